/* Choosing the route of a request by method and path. */
#ifndef SWITCHBOARD_ROUTE_H
#define SWITCHBOARD_ROUTE_H

#include "web/request.h"

/* Whether `path`, decoded, has the form of `pattern`, segment by segment; a `:name` segment stands for
 * any one, the empty one too. Fills `parameters` with what they stand for; unused ones have p ==
 * NULL. */
bool route_matches(const char *pattern, const char *path,
                   struct slice parameters[MAX_PATH_PARAMETERS]);

/* Sets rq->route. Returns 0, also for an answered OPTIONS, which leaves the route NULL; fails with 404
 * on an unknown path, and on a known one's other method, then with `Allow`. */
int route_choose(struct request *rq, const struct route *routes);

#endif
