/* Internal to the store: the messages that opened a flow, for which its replies are counted. */
#ifndef SWITCHBOARD_STORE_FLOW_TOKEN_H
#define SWITCHBOARD_STORE_FLOW_TOKEN_H

#include "engine/sql.h"

/* Upserts the flow that a reply belongs to when it names `token`: the id of the message that opened
 * the flow, or the flow token in it. Does nothing when `token` is NULL. False on failure. */
bool flow_token_upsert(struct store *store, const char *account_id, const char *token,
                       const char *flow_id);

#endif
