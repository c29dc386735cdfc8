/* The choice of the node or edge that answers a request. */
#ifndef SANDBOX_GRAPH_DISPATCH_H
#define SANDBOX_GRAPH_DISPATCH_H

#include "wire/exchange.h"

/* Answers a request whose version and token are valid. Called under the lock of the state. */
void graph_dispatch(struct exchange *exchange);

#endif
