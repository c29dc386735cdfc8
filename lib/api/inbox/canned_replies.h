/* Canned replies: the handlers of /v2/replies. */
#ifndef SWITCHBOARD_API_INBOX_CANNED_REPLIES_H
#define SWITCHBOARD_API_INBOX_CANNED_REPLIES_H

#include "web/request.h"

extern const struct field canned_replies_query[], canned_replies_fields[],
    canned_replies_change_fields[];

int canned_replies_get(struct request *rq);
int canned_replies_post(struct request *rq);
int canned_replies_patch(struct request *rq);
int canned_replies_delete(struct request *rq);

#endif
