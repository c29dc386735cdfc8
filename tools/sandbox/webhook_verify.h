/* The control call that verifies a webhook URL (POST webhooks/verify). */
#ifndef SANDBOX_WEBHOOK_VERIFY_H
#define SANDBOX_WEBHOOK_VERIFY_H

#include "exchange.h"

/* Sends the verification GET and holds the connection until it is answered. Called under the read
 * lock of the state. Returns NULL, or the text of an error, which lives as long as the exchange. */
const char *webhook_verify(struct exchange *exchange);

#endif
