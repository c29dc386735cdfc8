/* Answers about the token and the application, which the gateway gives itself: the platform's would
 * describe the platform access token. */
#ifndef SWITCHBOARD_GRAPH_LOCAL_H
#define SWITCHBOARD_GRAPH_LOCAL_H

#include "api/graph/graph_node.h"

/* Handlers of edges. */
int graph_debug_token(struct request *rq, const struct graph_node *node); /* GET /debug_token */
int graph_get_app(struct request *rq, const struct graph_node *node);     /* GET /app */
int graph_get_me(struct request *rq, const struct graph_node *node);      /* GET /me */

/* Writes the members of the application into the open object. */
void graph_write_app(struct json_writer *out, const struct request *rq);

/* Answers 200 with a JSON text. Returns 0. */
int graph_reply_json(struct request *rq, struct slice json);

/* Answers 200 {"success":true}. Returns 0. */
int graph_reply_success(struct request *rq);

#endif
