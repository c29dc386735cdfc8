/* Whether a program runs that makes the sends which are queued (store/outgoing.h). */
#ifndef SWITCHBOARD_API_SENDER_CHECK_H
#define SWITCHBOARD_API_SENDER_CHECK_H

#include "api/auth.h"

/* Fails the request with 503 when no sender has run for HEARTBEAT_SILENT_S. Returns 0, or -1 after
 * that. */
int sender_check(struct request *rq);

#endif
