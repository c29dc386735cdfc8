/* A request in the form of the platform's Graph API: its path, its token and what is passed on.
 *
 * The path is [/graph][/vMAJOR.MINOR]/NODE[/EDGE[/ITEM]] with any number of slashes at its end; the
 * version is 13.0 or later, or missing. The token is the user's API token, in one of four places:
 * `Authorization: Bearer TOKEN`, `Authorization: OAuth TOKEN`, the parameter `access_token` of the
 * query, or the field `access_token` of a form. In several places it must be the same. It never
 * leaves the gateway: `query` and `body` are without it.
 */
#ifndef SWITCHBOARD_GRAPH_REQUEST_H
#define SWITCHBOARD_GRAPH_REQUEST_H

#include "api/auth.h"
#include "api/graph/graph_parameter.h"

struct graph_edge; /* graph_node.h */

/* The id of the gateway as an application, the same for all users. */
#define GRAPH_APP_ID "1000000000000001"

struct graph_request {
    struct slice prefix; /* of the path as asked, before the node: "/graph/v21.0", "/v21.0", "" */
    struct slice node;   /* the first segment; n == 0: none */
    struct slice edge;   /* the segments after it, without slashes around: "message_qrdls/4O4" */

    /* Set by the guard before the body is read. */
    struct query parameters; /* of the query, decoded; with access_token */
    struct slice query;      /* to pass on: without access_token and appsecret_proof */
    bool has_query_token;    /* the token stands in the query */
    struct graph_seen seen;

    /* Set by the guard after the body is read. */
    struct slice body;        /* to pass on: without the token; p == NULL: none */
    const char *content_type; /* of this body; NULL: there is none */
    struct json json;         /* of a JSON body: the object; absent otherwise */
    struct query form;        /* of a form (application/x-www-form-urlencoded), decoded */

    struct slice token; /* p == NULL: none was found so far */

    int error_code; /* of a failure: in place of that of its kind; 0: none */

    const char *details; /* of a failure with the code 100 and the subcode 33; NULL: none */

    const struct graph_edge *row; /* of the table of edges, set before its handler is called */
};

/* Reads the path: the `enter` function of services with the platform's contract. Sets rq->graph,
 * and rq->path to "/", "/NODE" or "/NODE/EDGE". */
void graph_enter(struct request *rq);

/* The guard of their routes: checks the token, the linked account and the plan (auth_check_token).
 * If no header or query holds the token and the body is a form, it does so after the body was read.
 * A request for a token of the application has the API token as `client_secret`; the edges of other
 * applications fail before. What is passed on can be read in one way only (graph_request.c). */
extern const struct guard graph_guard;

/* The same without the body: of routes whose body is BODY_STREAM. */
extern const struct guard graph_stream_guard;

/* Returns the value of a parameter of the query, of a form or of the JSON object, in this order, as
 * text; numbers and booleans as they were written. p == NULL: there is none. */
struct slice graph_parameter(struct request *rq, const char *name);

#endif
