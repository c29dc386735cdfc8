/* The nodes of the platform that a caller may use, and their edges. */
#ifndef SWITCHBOARD_GRAPH_NODE_H
#define SWITCHBOARD_GRAPH_NODE_H

#include "api/graph/graph_request.h"
#include "graph/call.h"

/* Kinds of nodes. Phones and WABAs are those of the database. The others are known to the platform
 * alone: it answers for them only with the token of the account that they belong to. */
enum graph_kind {
    GRAPH_ROOT = 1,  /* no node: the path is "/" or a name such as "/app" */
    GRAPH_PHONE = 2, /* a line of the caller that is not archived */
    GRAPH_WABA = 4,  /* an account of the caller */
    GRAPH_MEDIA = 8, /* a file */
    GRAPH_TEMPLATE = 16,
    GRAPH_FLOW = 32,
    GRAPH_APP = 64,     /* the gateway, as the application of its programs (GRAPH_APP_ID) */
    GRAPH_UPLOAD = 128, /* a session of a resumable upload: `upload:...` */
    GRAPH_OBJECT = GRAPH_MEDIA | GRAPH_TEMPLATE | GRAPH_FLOW, /* one of these, not known which */
};

struct graph_node {
    enum graph_kind kind;
    const char *id;
    struct store_account *accounts; /* of a phone or a WABA: its one; of an object or a session:
                                       those of the caller with a platform access token, the default
                                       one first */
    size_t count;
};

/* Finds the node that `id` names for the caller; of a phone sets rq->caller->line. Returns 0, or -1
 * after failing the request: graph_fail_unknown when the id is not a number, or belongs to a line
 * or an account that the caller cannot use. */
int graph_find_node(struct request *rq, struct slice id, struct graph_node *node);

/* Whether the platform's answer only means that the account has no such object: a 404, or code 100
 * with subcode 33. */
bool graph_is_elsewhere(struct request *rq, const struct graph_answer *answer);

struct graph_outcome; /* graph_forward.h */

/* What is done with a request to an edge. */
enum graph_action {
    GRAPH_FORWARDED,   /* passed on to the platform */
    GRAPH_RECORDED,    /* passed on, and recorded here */
    GRAPH_LOCAL,       /* answered here, without a call of the platform */
    GRAPH_DESTRUCTIVE, /* passed on if graph_destructive is `yes` */
    GRAPH_ACTIONS
};

/* An edge: a row of the table of a service. The table ends with an empty row; what it does not hold
 * is refused. */
struct graph_edge {
    const char *method;
    unsigned of;      /* kinds of node (enum graph_kind) */
    const char *name; /* "": the node itself; a `:name` segment matches any segment. What follows
                         a `?` is a parameter that the request must have (graph_parameter) */
    unsigned scope;   /* enum scope: what the caller must have; SCOPE_NONE: there is no caller */
    enum graph_action action;
    int (*handle)(struct request *rq, const struct graph_node *node); /* NULL: graph_forward */

    /* Makes the body of the reply from a 2xx answer, for graph_forward. p == NULL after failing the
     * request. NULL: the platform's body is replied unchanged. */
    struct slice (*rewrite)(struct request *rq, const struct graph_node *node,
                            const struct graph_outcome *outcome);

    const char *trail; /* as in struct route; NULL: of GET */
};

/* Finds the edge of the request: the first row with its method, a name that matches the path, and
 * one of the kinds. NULL: there is none. */
const struct graph_edge *graph_find_edge(struct request *rq, const struct graph_edge *edges,
                                         unsigned kinds);

/* Ends the program with status 1 if a row has no scope. */
void graph_check_edges(const struct graph_edge *edges);

/* Writes the table for the description (struct service), after graph_check_edges. */
void graph_write_edges(struct json_writer *out, const char *name, const struct graph_edge *edges);

#endif
