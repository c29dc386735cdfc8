/* What a send passes before the platform is called, or before it is queued. Each function returns
 * 0, or -1 after failing the request. */
#ifndef SWITCHBOARD_API_SEND_CHECK_H
#define SWITCHBOARD_API_SEND_CHECK_H

#include "api/auth.h"

/* Refuses, with 403, a contact that is blocked on caller->line (spec 4.3): by the digits of its
 * phone and its BSUID, either of which may be NULL. */
int send_check_blocked(struct request *rq, const char *phone, const char *bsuid);

/* The same for what concerns a message that the line has received: for its sender. */
int send_check_sender(struct request *rq, const char *wamid);

/* Refuses, with 503, to queue what no program sends: no sender has run for HEARTBEAT_SILENT_S. */
int send_check_queue(struct request *rq);

#endif
