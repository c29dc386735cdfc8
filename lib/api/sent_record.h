/* The record of a message that was sent, by whatever route: recipient, thread and message, from the
 * platform's answer to the send. */
#ifndef SWITCHBOARD_SENT_RECORD_H
#define SWITCHBOARD_SENT_RECORD_H

#include "api/idempotency.h"

/* Stores a message that the platform accepted and that caller->line has sent. The caller sets of
 * `send` the recipient (phone, bsuid), type, body and time, and the members that only some messages
 * have; this function sets the others from the request and the platform's answer. The request has
 * its reply already. If the database does not take the record, it is kept with the reply of the key
 * (keep.h). `once`: the request's key, if it has one. */
void sent_record(struct request *rq, struct json answer, struct store_send *send,
                 struct idempotency *once);

/* Rebuilds the platform's answer to a send, which was lost, from the status of the message that was
 * stored with the idempotency key. `input` is the recipient as the request names it; `phone` its
 * digits, NULL: `input` is a BSUID. Returns 0, or -1 after failing the request. */
int sent_answer(struct request *rq, const struct store_idempotency *stored, const char *input,
                const char *phone, struct json *answer);

#endif
