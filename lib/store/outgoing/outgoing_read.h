/* Internal to the store: reading rows of the table outgoing. */
#ifndef SWITCHBOARD_STORE_OUTGOING_READ_H
#define SWITCHBOARD_STORE_OUTGOING_READ_H

#include "engine/sql.h"
#include "store/outgoing.h"

/* SQL: the columns of a row `o` and of its line `l`, which outgoing_of_row reads. Those with
 * another body than o.body read no more of it than that. */
#define OUTGOING_COLUMNS OUTGOING_COLUMNS_WITH("o.body")
#define OUTGOING_COLUMNS_WITH(body)                                                                \
    "o.id, o.user_id, o.account_id, o.line_id, l.phone_number_id, o.recipient, o.state, "          \
    "o.reason, o.error, o.attempts, o.send_at, o.next_at, o.expires_at, o.created_at, "            \
    "o.finished_at, o.wamid, o.by_id, o.by_name, o.retry_of, o.retried_as, "                       \
    "o.campaign_id, " body
enum { OUTGOING_COLUMN_COUNT = 22 };

struct store_outgoing outgoing_of_row(struct statement *s, struct arena *arena);

/* Reads all rows of the started statement. */
enum store_result outgoing_read_rows(struct store *store, struct statement *s, struct arena *arena,
                                     struct store_outgoing **rows, size_t *count);

/* Whether a view of a member's threads has the row; each other view has it. */
bool outgoing_is_shown(struct store *store, const struct store_view *view, const char *id);

/* Whether the row ?1 of the user ?2 is in the state ?3, which the statement selects; `exists`:
 * whether there is such a row. */
bool outgoing_is_in_state(struct store *store, struct statement *s, const char *user_id,
                          const char *id, const char *state, bool *exists);

#endif
