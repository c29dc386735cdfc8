/* The rows that the sender posts (store/outgoing.h): takes them from the store at the pace of their
 * lines, posts each once, and records what became of it.
 *
 * What is taken is posted at once: there is no reserve of rows that a crash would make unknown.
 */
#ifndef SWITCHBOARD_SENDING_POSTING_H
#define SWITCHBOARD_SENDING_POSTING_H

#include "base/id.h"
#include "delivery/resources.h"
#include "graph/call.h"
#include "sending/pace.h"
#include "sending/streak.h"
#include "sending/verdict.h"

enum { POSTING_SLOTS = 64, POSTING_PER_LINE = 32 };

enum posting_slot {
    POSTING_FREE,
    POSTING_IN_FLIGHT,
    POSTING_ENDED /* its outcome is not stored yet */
};

/* A row that is being posted. */
struct flight {
    struct graph_owner owner;
    enum posting_slot slot;
    struct arena arena; /* of all that follows */
    struct store_outgoing row;
    char take_id[ID_SIZE];
    struct graph_call call;
    struct graph_post post;
    struct pace_line *line;
    int64_t started_at; /* wall clock, ms */
    bool is_judged;     /* `verdict` is set */
    struct verdict verdict;
    struct outgoing_streak streaks[OUTGOING_STREAKS]; /* that it changes */
};

struct posting {
    CURLM *multi;        /* of copying.h too */
    char owner[ID_SIZE]; /* of the lease and of the rows */
    struct arena planning;
    struct flight flights[POSTING_SLOTS];
    struct pace pace;
    struct streaks streaks;
    char after[ID_SIZE];     /* the line that was looked at last */
    char until[ID_SIZE];     /* the same at the last posting_rescan: the round ends there */
    bool is_second_part;     /* of the round, from the first line on */
    bool has_seen_all;       /* all lines have been looked at since posting_rescan */
    int64_t room_at;         /* clock_monotonic: a line with due rows may send again */
    int64_t next_due_at;     /* wall clock: of the lines that were looked at, the first later row */
    int64_t unreached_until; /* clock_monotonic: the platform could not be reached */
    int64_t unreached_ms;
    bool is_abandoned; /* the sender ends: what has no answer is unknown by that */
};

/* Initializes `*posting`, which must be all zeros. Returns false when there is no memory. */
bool posting_open(struct posting *posting);
void posting_close(struct posting *posting);

size_t posting_count(const struct posting *posting, enum posting_slot slot);

/* The lease begins: goes on with the streaks of the sender before. */
enum store_result posting_take_over(struct posting *posting, struct store *store);

/* There may be more to take: looks at all lines again, in a round that begins behind the line that
 * was looked at last. So lines with many rows take turns with the others. */
void posting_rescan(struct posting *posting);

/* Whether rows may be taken now. */
bool posting_may_take(const struct posting *posting);

/* Takes rows that are due and starts their POSTs. */
enum store_result posting_take(struct posting *posting, struct store *store,
                               struct resources *resources);

/* Records the POSTs that have ended. A message that the database does not take is kept in
 * pending_dir (kept_record.h), also with `store` NULL; other outcomes wait for the next call. */
enum store_result posting_record(struct posting *posting, struct store *store,
                                 const struct config *config);

/* Stores the messages that statuses showed to be accepted. */
enum store_result posting_record_confirmed(struct posting *posting, struct store *store,
                                           const struct config *config, size_t *count);

/* Queues the next recipients of the campaigns that run. */
enum store_result posting_feed(struct posting *posting, struct store *store);

/* Ends the POSTs in flight: their outcome is unknown. */
void posting_abandon(struct posting *posting, struct store *store, const struct config *config);

#endif
