/* Internal to the store: reading rows of the table outgoing. */
#ifndef SWITCHBOARD_STORE_OUTGOING_READ_H
#define SWITCHBOARD_STORE_OUTGOING_READ_H

#include "engine/sql.h"
#include "store/outgoing.h"

/* SQL: the columns of a row `o` and of its line `l`, which outgoing_of_row reads. */
#define OUTGOING_COLUMNS                                                                           \
    "o.id, o.user_id, o.account_id, o.line_id, l.phone_number_id, o.recipient, o.state, "          \
    "o.reason, o.error, o.attempts, o.send_at, o.next_at, o.expires_at, o.created_at, "            \
    "o.finished_at, o.wamid, o.by_id, o.by_name, o.retry_of, o.retried_as, "                       \
    "o.campaign_id, o.body"
enum { OUTGOING_COLUMN_COUNT = 22 };

struct store_outgoing outgoing_of_row(struct statement *s, struct arena *arena);

#endif
