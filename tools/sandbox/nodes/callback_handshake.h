/* The verification of a callback URL before it is stored, and the answer that waits for it. */
#ifndef SANDBOX_CALLBACK_HANDSHAKE_H
#define SANDBOX_CALLBACK_HANDSHAKE_H

#include "state/graph_target.h"

/* What a callback URL belongs to, and where it is kept when the verification succeeds. */
struct callback {
    const char *node_id;
    const char *url;
    const char *verify_token;
    /* Stores the callback. Called under the write lock of the state. */
    void (*store)(const struct callback *callback);
};

/* Prepares the GET of the verification: the exchange is answered when it has ended, with
 * {"success":true} or with error 2200. The texts of `callback` live as long as the exchange.
 * Answers with error 100 when the URL is neither http nor https, the token is empty, or either is
 * too long. */
void handshake_prepare(struct exchange *exchange, const struct callback *callback);

/* Starts the verification that was prepared, without the lock of the state; the connection waits.
 * Returns false after answering with error 2 when too many are under way. */
bool handshake_start(struct exchange *exchange);

/* Ends a verification that was prepared and not started. */
void handshake_drop(struct exchange *exchange);

#endif
