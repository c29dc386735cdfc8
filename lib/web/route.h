/* Selection of the route of a request by method and path. */
#ifndef SWITCHBOARD_ROUTE_H
#define SWITCHBOARD_ROUTE_H

#include "web/request.h"

/* Whether the decoded `path` matches `pattern`, segment by segment; a `:name` segment matches any
 * segment, also an empty one. Fills `parameters` with the segments that match `:name`; unused ones
 * have p == NULL. */
bool route_matches(const char *pattern, const char *path,
                   struct slice parameters[MAX_PATH_PARAMETERS]);

/* The most bytes that a body may have: of a BODY_JSON or a BODY_RAW route; else 0. */
size_t route_body_limit(const struct route *route);

/* Sets rq->route and returns 0. Answers OPTIONS itself: then it returns 0 with the route NULL.
 * Fails with 404 when the path is unknown, and, with `Allow`, when it does not have the method. */
int route_choose(struct request *rq, const struct route *routes);

#endif
