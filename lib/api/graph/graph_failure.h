/* Failures in the platform's shape:
 *
 *     {"error": {"message", "type", "code", "error_subcode"?, "error_data"?, "fbtrace_id"}}
 *
 * Handlers of services with the platform's contract fail as all others do (request.h); graph_settle
 * writes the failure:
 *
 *     UNAUTHORIZED                       401 190 OAuthException
 *     FORBIDDEN, PLAN_EXPIRED, ...       403 10  OAuthException
 *     NOT_FOUND                          400 100 GraphMethodException, subcode 33
 *     INTERNAL with Retry-After,
 *     BAD_GATEWAY with it, UNAVAILABLE   503 2   OAuthException
 *     INTERNAL, BAD_GATEWAY              500 1   OAuthException
 *     the others                         their status, 100 OAuthException
 *
 * graph->error_code replaces the code. The fbtrace_id is the request's id.
 */
#ifndef SWITCHBOARD_GRAPH_FAILURE_H
#define SWITCHBOARD_GRAPH_FAILURE_H

#include "web/request.h"

#define GRAPH_JSON "application/json; charset=UTF-8"

/* Makes the answer of a failed request: the `settle` function of services with the platform's
 * contract. */
void graph_settle(struct request *rq);

/* Fails as the platform does for an id that does not exist, or that the token may not see, and for
 * an edge that the node does not have. Returns -1. */
int graph_fail_unknown(struct request *rq);

/* The same for an edge that is not served, of a node that the caller may use: details of the error
 * name it. Of a node that the caller may not use nothing is said. Returns -1. */
int graph_fail_edge(struct request *rq);

#endif
