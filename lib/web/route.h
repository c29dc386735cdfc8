/* Selection of the route of a request by method and path. */
#ifndef SWITCHBOARD_ROUTE_H
#define SWITCHBOARD_ROUTE_H

#include "web/request.h"

/* Whether the decoded `path` matches `pattern`, segment by segment; a `:name` segment matches any
 * segment, also an empty one. Fills `parameters` with the segments that match `:name`; unused ones
 * have p == NULL. */
bool route_matches(const char *pattern, const char *path,
                   struct slice parameters[MAX_PATH_PARAMETERS]);

/* Whether the route requires a caller: its guard takes a token or a session. */
bool route_has_caller(const struct route *route);

/* How the route receives its body. */
enum body route_body(const struct route *route);

/* The most bytes that a body may have: of a BODY_JSON or a BODY_RAW route; else 0. */
size_t route_body_limit(const struct route *route);

/* Whether a 2xx leaves a row in the trail by itself (struct route); `trail` may be NULL. */
bool route_leaves_row(const char *trail);

/* Writes the members `trail` and `no_trail` of a description (describe.h). */
void route_write_trail(struct json_writer *out, const char *trail);

/* Sets rq->route and returns 0. Answers OPTIONS itself: then it returns 0 with the route NULL.
 * Fails with 404 when the path is unknown, and, with `Allow`, when it does not have the method. */
int route_choose(struct request *rq, const struct route *routes);

/* Whether each row of a route table that requires a caller has a scope, and no other row has one;
 * else prints the first one that does not to stderr. */
bool route_check_scopes(const char *executable, const struct route *routes);

/* Whether each row that is no GET says something about the trail; else prints the first one that
 * does not. */
bool route_check_trails(const char *executable, const struct route *routes);

#endif
