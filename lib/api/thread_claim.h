/* `X-Switchboard-Seen: THREAD CHANGE`, an optional header of the sends of a session: the thread
 * that the member answers, and the last change of it that the member has seen. Of two members who
 * answer at the same time exactly one passes (store/claim.h). Tokens, and sends without the header,
 * are not bound by it. */
#ifndef SWITCHBOARD_THREAD_CLAIM_H
#define SWITCHBOARD_THREAD_CLAIM_H

#include "api/auth.h"
#include "store/claim.h"

/* Claims the thread of the header for an answer to the recipient (a phone's digits, a BSUID; either
 * may be NULL); `claim->thread_id` is NULL where there is nothing to claim. Returns 0, or -1 after
 * failing the request: 400 for an invalid header, 409 when another member is answering, or has
 * answered since (`details.reason`, `details.by`). */
int claim_take(struct request *rq, const char *phone, const char *bsuid, struct store_claim *claim);

/* Ends the claim after a send that failed, unless the platform may have carried it out: then it
 * lasts until its time. */
void claim_release(struct request *rq, const struct store_claim *claim);

#endif
