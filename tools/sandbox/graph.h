/* The simulated platform: checks version, token and ownership, and dispatches to the node or
 * edge. */
#ifndef SANDBOX_GRAPH_H
#define SANDBOX_GRAPH_H

#include "exchange.h"

/* Prepares a request when its headers are read: an upload gets its stream here. */
void graph_prepare(struct exchange *exchange);

/* Makes the whole answer to a request that was read, including the answer of a fault. */
void graph_answer(struct exchange *exchange);

#endif
