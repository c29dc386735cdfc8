/* Internal to store_ingest: a payload in progress, and the handlers of its updates. Every call runs
 * in the open transaction and returns false when the store failed. */
#ifndef SWITCHBOARD_STORE_INGEST_UPDATE_H
#define SWITCHBOARD_STORE_INGEST_UPDATE_H

#include "engine/row.h"
#include "store/event.h"
#include "store/ingest/identity.h"
#include "store/store_update.h"
#include "store/usage.h"

/* The owner of an update. */
struct update_owner {
    const char *user_id, *account_id, *waba_id; /* NULL: there is none */
    const char *line_id, *phone_number_id;      /* NULL: the update is about the account */
    bool is_foreign; /* the line is known, but it belongs to another account than waba_id */
    bool is_archived;
};

/* Consecutive updates with the same owner: those before the index `end` that are in no run before.
 */
struct update_run {
    struct update_owner owner;
    size_t end;
};

/* A payload in progress, with the owner of the current update. */
struct ingest {
    struct store *store;
    struct arena *lasting; /* for the whole call */
    struct arena *arena;   /* reset after each update */
    int64_t now;
    event_writer *write;
    bool archives_media;
    size_t events;
    size_t erased;          /* updates that were skipped because their contact was erased */
    size_t most_webhooks;   /* that a user with events may have; SIZE_MAX: any number */
    bool has_many;          /* a user has more, and the transaction was abandoned */
    struct buffer webhooks; /* of struct webhook_list: those of each user of the payload */
    struct update_owner owner;
    const struct update_run *run; /* of the current update */
    bool is_lead_read_ahead;
};

/* Finds the owners of all updates: the line, or the account where an update names no line. user_id
 * stays NULL when there is no such line or account. Adds the runs to `runs`. */
bool update_owner_find_all(struct ingest *in, const struct store_update *updates, size_t count,
                           struct buffer *runs);

/* Locks what the updates name before anything of it is read, account by account in the order of
 * their ids, so that payloads with the same names wait for each other in the same order. `runs` has
 * `count` elements. Resets `in->arena`. */
void update_lock_all(struct ingest *in, const struct store_update *updates,
                     const struct update_run *runs, size_t count);

/* Returns a new id, in `in->arena`. */
const char *ingest_id(struct ingest *in, const char *prefix);

/* The occasion of an update of the platform with this timestamp. */
struct occasion ingest_occasion(struct ingest *in, int64_t at, const char *new_id);

/* Counts a message of the update's line. */
bool ingest_count(struct ingest *in, enum usage_measure measure);

/* Inserts the update as it is, once, and sets its outcome: `outcome`, or OUTCOME_DUPLICATE. */
bool ingest_insert_raw(struct ingest *in, struct store_update *update, enum store_outcome outcome);

/* Skips an update that repeats what was erased, or is about it. Returns true. */
bool ingest_skip_erased(struct ingest *in, struct store_update *update);

/* The update is about a call that is stored as the message `id`: the earliest time of the call
 * counts, and its first end. Sets the outcome. */
bool ingest_call_complete(struct ingest *in, struct store_update *update, const char *id);

/* A call that was answered, which was just stored, needs no further answer. */
bool ingest_call_settle(struct ingest *in, const char *id, const char *thread_id);

/* Store an update of one kind and set its outcome. */
typedef bool update_handler(struct ingest *in, struct store_update *update);
update_handler ingest_message, ingest_status, ingest_identity, ingest_lead, ingest_template,
    ingest_flow, ingest_other;

#endif
