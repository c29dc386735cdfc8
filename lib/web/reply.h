/* Access to the finished answer before it is written; the other functions of reply.c are in
 * request.h. */
#ifndef SWITCHBOARD_REPLY_H
#define SWITCHBOARD_REPLY_H

#include "web/request.h"

#define REPLY_JSON "application/json; charset=utf-8"

/* If the request has failed, makes the error envelope (spec 2.1) its answer; a second call changes
 * nothing. Returns the answer's status. */
int reply_settle(struct request *rq);

/* Returns the body of the settled answer as one slice, in the request's arena. */
struct slice reply_bytes(struct request *rq);

/* Writes the settled answer in one call. Returns the length of its body in bytes. */
size_t reply_write(struct request *rq);

#endif
