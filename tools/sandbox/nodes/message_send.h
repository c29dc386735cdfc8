/* POST /{phone-number-id}/messages. */
#ifndef SANDBOX_MESSAGE_SEND_H
#define SANDBOX_MESSAGE_SEND_H

#include "state/account.h"
#include "wire/exchange.h"

/* Answers a send from that number of that account. Called under the lock of the state. */
void message_send(struct exchange *exchange, const struct account *account,
                  const struct phone *phone);

#endif
