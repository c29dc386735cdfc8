/* That a member writes an answer: the handler of /v2/threads/:threadId/typing. */
#ifndef SWITCHBOARD_API_INBOX_TYPING_NOTICES_H
#define SWITCHBOARD_API_INBOX_TYPING_NOTICES_H

#include "web/request.h"

int typing_notices_put(struct request *rq);

#endif
