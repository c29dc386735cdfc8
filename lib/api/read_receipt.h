/* POST /v2/messages/read: marks a received message as read. It sends no message: nothing is
 * recorded, and an Idempotency-Key has no effect, because a repetition has the same effect. */
#ifndef SWITCHBOARD_READ_RECEIPT_H
#define SWITCHBOARD_READ_RECEIPT_H

#include "api/auth.h"

/* The fields of the request's body. */
extern const struct field read_receipt_fields[];

/* The handler; the route has line_guard. Fails with 403 when the message is stored and its sender
 * is blocked on the line. Else replies with the platform's answer. */
int read_receipt_send(struct request *rq);

#endif
