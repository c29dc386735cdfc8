/* The control call that sends webhooks (POST webhooks). */
#ifndef SANDBOX_WEBHOOK_CALL_H
#define SANDBOX_WEBHOOK_CALL_H

#include "wire/exchange.h"

/* Carries out the call: the connection is held until all posts are sent, unless the call says
 * otherwise. Called under the read lock of the state. Returns NULL, or the text of an error, which
 * lives as long as the exchange. */
const char *webhook_call(struct exchange *exchange);

#endif
