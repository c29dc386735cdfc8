/* The app that the access tokens belong to: GET /app, and GET /debug_token. Called under the lock
 * of the state. */
#ifndef SANDBOX_APP_NODE_H
#define SANDBOX_APP_NODE_H

#include "state/graph_target.h"

/* Answers with the app. */
void app_show(struct exchange *exchange, const struct target *target);

/* Answers what the token in `input_token` may do. */
void token_debug(struct exchange *exchange, const struct target *target);

#endif
