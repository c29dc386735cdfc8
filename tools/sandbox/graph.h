/* The platform's side of the sandbox: versions, tokens, ownership, and which noun answers. */
#ifndef SANDBOX_GRAPH_H
#define SANDBOX_GRAPH_H

#include "exchange.h"

/* Called when the headers are there: an upload gets its stream here. */
void graph_prepare(struct exchange *exchange);

/* Makes the whole answer of a request that was read, the fault's one included. */
void graph_answer(struct exchange *exchange);

#endif
