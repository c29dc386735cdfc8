/* A queued send as answers show it. */
#ifndef SWITCHBOARD_OUTGOING_JSON_H
#define SWITCHBOARD_OUTGOING_JSON_H

#include "base/json.h"
#include "store/outgoing.h"

/* Writes the row as an object without a name; without the message if its body was not read. */
void outgoing_json_write(struct json_writer *out, const struct store_outgoing *row);

/* The same, with a name or NULL, without the message: the answer that queues it is kept for its
 * idempotency key, and events are kept, longer than its text may be. */
void outgoing_json_write_queued(struct json_writer *out, const char *name,
                                const struct store_outgoing *row);

#endif
