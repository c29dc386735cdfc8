/* `X-Switchboard-Seen: THREAD CHANGE`, an optional header of the sends of a session: the thread
 * that the member answers, and the last change of it that the member has seen. Of two members who
 * answer at the same time exactly one passes (store/claim.h). Tokens, and sends without the header,
 * are not bound by it. */
#ifndef SWITCHBOARD_THREAD_CLAIM_H
#define SWITCHBOARD_THREAD_CLAIM_H

#include "api/auth.h"
#include "store/claim.h"

/* Fails the request: the thread with the person is assigned to a colleague. Returns -1. */
int claim_fail(struct request *rq);

/* Refuses a send of a caller who does not see the thread with the recipient, because it is assigned
 * to another member. Returns 0, or -1 after failing the request. */
int claim_check(struct request *rq, const char *phone, const char *bsuid);

/* The same for what concerns a message of the line. */
int claim_check_message(struct request *rq, const char *wamid);

/* Checks as claim_check, and claims the thread of the header for an answer to the recipient (a
 * phone's digits, a BSUID; either may be NULL); `claim->thread_id` is NULL where there is nothing
 * to claim. Returns 0, or -1 after failing the request: also 400 for an invalid header, and 409
 * when another member is answering, or has answered since (`details.reason`, `details.by`). */
int claim_take(struct request *rq, const char *phone, const char *bsuid, struct store_claim *claim);

/* Ends the claim after a send that failed, unless the platform may have carried it out: then it
 * lasts until its time. */
void claim_release(struct request *rq, const struct store_claim *claim);

#endif
