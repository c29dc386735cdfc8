/* Internal to the store: rows of the table outgoing, within the transactions of others too. */
#ifndef SWITCHBOARD_STORE_OUTGOING_ROW_H
#define SWITCHBOARD_STORE_OUTGOING_ROW_H

#include "engine/row.h"
#include "store/outgoing.h"
#include "store/store.h"

/* SQL: when the outcome of a row is reported, if it is a single send, which ended at ?n; that of an
 * unknown one 10 minutes later. */
#define OUTGOING_REPORT(at)         "CASE WHEN campaign_id IS NULL THEN CAST(" at " AS BIGINT) END"
#define OUTGOING_REPORT_UNKNOWN(at) OUTGOING_REPORT(at) " + 600000"

enum { OUTGOING_STATUS_SIZE = 16 };

/* What a status has to know of the row of its message. */
struct outgoing_row {
    char id[ID_SIZE], campaign_id[ID_SIZE]; /* "": of none */
    bool is_held;                           /* the platform's answer held the message back */
    /* What the message has reached, and the code of its failure, once it was deleted: a status that
     * comes later makes another message. delivery "": the message has both. */
    char delivery[OUTGOING_STATUS_SIZE], code[OUTGOING_CODE_SIZE];
};

/* A send whose outgoing_id is set: its row, if there is one, is accepted, and its message is stored
 * in this transaction. *is_campaign: a campaign sends it. False on failure. */
bool outgoing_accept(struct store *store, const struct store_send *send, bool *is_campaign);

/* A status with this callback data shows that a message was accepted: so is its row, if the data is
 * the id of one of the user's; what waits to send its message again is cancelled. False on failure.
 */
bool outgoing_confirm(struct store *store, const char *user_id, const char *callback_data,
                      const char *wamid, int64_t now, struct outgoing_row *row);

/* The same of a stored message of a campaign, whose status has no callback data; `*row` is that of
 * none before. False on failure. */
bool outgoing_find_row(struct store *store, const char *message_id, struct outgoing_row *row);

/* The message of a campaign is about to be deleted from the thread, if it is in it: keeps in its
 * row what it has reached. False on failure. */
bool outgoing_keep_delivery(struct store *store, const char *message_id, const char *thread_id);

/* The row, which has what its message had reached, goes on to another status; `error` n == 0: it is
 * no failure. False on failure. */
bool outgoing_set_delivery(struct store *store, const char *id, const char *status,
                           struct slice error);

/* Deletes rows of the user that ended before `before` without being accepted, some hundreds at
 * once, but none to a contact on hold: regular work (chore.h), for the retention of messages. */
enum store_result outgoing_prune(struct store *store, const char *user_id, int64_t before,
                                 size_t *removed);

/* Writes the streaks that an answer changes, if there are any. False on failure. */
bool outgoing_write_streaks(struct store *store, const struct outgoing_streak *streaks);

/* Whether a row to one of the recipients waits or is being sent. */
bool outgoing_waits(struct store *store, const char *account_id, const char *const *recipients,
                    size_t count);

/* --- reading rows --- */

/* SQL: the columns of a row `o` and of its line `l`, which outgoing_layout reads. Those with
 * another body than o.body read no more of it than that. */
#define OUTGOING_COLUMNS OUTGOING_COLUMNS_WITH("o.body")
#define OUTGOING_COLUMNS_WITH(body)                                                                \
    "o.id, o.user_id, o.account_id, o.line_id, l.phone_number_id, o.recipient, o.state, "          \
    "o.reason, o.error, o.attempts, o.send_at, o.next_at, o.expires_at, o.created_at, "            \
    "o.finished_at, o.wamid, o.by_id, o.by_name, o.retry_of, o.retried_as, "                       \
    "o.campaign_id, " body

extern const struct row_layout outgoing_layout;

/* Whether a view of a member's threads has the row; each other view has it. */
bool outgoing_is_shown(struct store *store, const struct store_view *view, const char *id);

/* Whether the row ?1 of the user ?2 is in the state ?3, which the statement selects; `exists`:
 * whether there is such a row. */
bool outgoing_is_in_state(struct store *store, struct statement *s, const char *user_id,
                          const char *id, const char *state, bool *exists);

#endif
