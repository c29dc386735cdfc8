/* The control call that sends webhooks (POST webhooks). */
#ifndef SANDBOX_WEBHOOK_CALL_H
#define SANDBOX_WEBHOOK_CALL_H

#include "wire/exchange.h"

/* Sends the webhooks of a list of updates, in the form of the call's members, and then answers the
 * exchange, which is held meanwhile, with {done:true}. Called under the lock of the state. Returns
 * false when there is no URL for them. */
bool webhook_notify(struct exchange *exchange, const cJSON *updates);

/* Carries out the call: the connection is held until all posts are sent, unless the call says
 * otherwise. Called under the read lock of the state. Returns NULL, or the text of an error, which
 * lives as long as the exchange. */
const char *webhook_call(struct exchange *exchange);

#endif
