/* What others need of reply.c beside request.h: the finished answer, before it is written. */
#ifndef SWITCHBOARD_REPLY_H
#define SWITCHBOARD_REPLY_H

#include "web/request.h"

#define REPLY_JSON "application/json; charset=utf-8"

/* Turns a failure into the answer, the error envelope (spec 2.1), if that has not happened yet.
 * Returns the answer's status. */
int reply_settle(struct request *rq);

/* The body of the settled answer, in one piece in the request's memory. */
struct slice reply_bytes(struct request *rq);

/* Writes the settled answer in one go. Returns the length of its body. */
size_t reply_write(struct request *rq);

#endif
