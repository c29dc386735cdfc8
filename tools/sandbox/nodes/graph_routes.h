/* The simulated platform: checks version, token and ownership, and dispatches to the node or
 * edge. It owns the upload of an exchange. */
#ifndef SANDBOX_GRAPH_ROUTES_H
#define SANDBOX_GRAPH_ROUTES_H

#include "wire/exchange.h"

/* Prepares a request when its headers are read: sets `upload` when its body is an upload. */
void graph_prepare(struct exchange *exchange);

/* Passes a piece of the body to the upload of the exchange, which has one. */
void graph_feed(struct exchange *exchange, struct slice piece);

/* Reads the members of a request whose body was received: sets `json`, `form` and `form_token`. */
void graph_read(struct exchange *exchange);

/* Makes the whole answer to a request that was read, including the answer of a fault. Takes the
 * lock of the state. */
void graph_answer(struct exchange *exchange);

/* Ends the upload of the exchange, if it has one. */
void graph_release(struct exchange *exchange);

#endif
