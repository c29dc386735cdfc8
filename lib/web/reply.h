/* What serve.c needs of reply.c beside request.h. */
#ifndef SWITCHBOARD_REPLY_H
#define SWITCHBOARD_REPLY_H

#include "web/request.h"

/* Turns the failure into the answer: the error envelope (spec 2.1). */
void reply_failure(struct request *rq);

/* Writes the finished answer in one go. Returns the length of its body. */
size_t reply_write(struct request *rq);

#endif
