/* Calls of the platform that take a number, a template or a flow out of service. */
#ifndef SWITCHBOARD_DESTRUCTIVE_H
#define SWITCHBOARD_DESTRUCTIVE_H

#include "web/request.h"

/* Returns 0 if the operator lets such calls be passed on (graph_destructive), or -1 after failing
 * the request with 403. */
int destructive_check(struct request *rq);

#endif
