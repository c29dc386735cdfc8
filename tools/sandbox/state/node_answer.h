/* What a control call makes an account, a number, the app or an access token answer instead of its
 * own members. All calls are made under the lock of the state, those that change it under the write
 * lock. */
#ifndef SANDBOX_NODE_ANSWER_H
#define SANDBOX_NODE_ANSWER_H

#include "text/json_fields.h"

/* Keeps the members of the object `json` for the node `id`, in place of those kept before; an empty
 * object deletes them. Returns NULL, or the text of an error. */
const char *node_answer_put(const char *id, const cJSON *json);

/* Appends the JSON object `whole` of the node `id`, with the members kept for it merged into it
 * (RFC 7396). */
void node_answer_print(struct buffer *out, const char *id, struct slice whole);

#endif
