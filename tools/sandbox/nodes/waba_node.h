/* GET /{waba-id}. Called under the lock of the state. */
#ifndef SANDBOX_WABA_NODE_H
#define SANDBOX_WABA_NODE_H

#include "state/graph_target.h"

/* Answers with the account. */
void waba_show(struct exchange *exchange, const struct target *target);

#endif
