/* The sending of an answer through libmicrohttpd, with the effect of a fault on its bytes. */
#ifndef SANDBOX_RESPONSE_H
#define SANDBOX_RESPONSE_H

#include "wire/exchange.h"
#include "wire/faults.h"

/* Queues the answer of the exchange, which ends its last stage. Returns MHD_NO when that fails;
 * libmicrohttpd then closes the connection. */
enum MHD_Result response_send(struct exchange *exchange);

/* Sends a TCP reset to the client at once. */
void response_reset(struct MHD_Connection *connection);

#endif
