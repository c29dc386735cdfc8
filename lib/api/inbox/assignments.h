/* Who takes care of a thread: the handler of /v2/threads/:threadId/assignee. */
#ifndef SWITCHBOARD_API_INBOX_ASSIGNMENTS_H
#define SWITCHBOARD_API_INBOX_ASSIGNMENTS_H

#include "web/request.h"

extern const struct field assignments_fields[];

int assignments_put(struct request *rq);

#endif
