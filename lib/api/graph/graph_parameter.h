/* What the names of a request's parameters may be, wherever they stand: in the query, a form, a
 * multipart form, or as the members of a JSON object. */
#ifndef SWITCHBOARD_GRAPH_PARAMETER_H
#define SWITCHBOARD_GRAPH_PARAMETER_H

#include "web/multipart.h"
#include "web/request.h"

enum { GRAPH_MAX_NAMES = MULTIPART_MAX_PARTS };

/* What the checks of a request's parameters depend on. */
struct graph_seen {
    bool has_node;   /* the path has one */
    bool has_fields; /* the parameter `fields` was found, in the query or in the body */
};

/* The names of one query or form, of which no two may be taken for one. */
struct graph_names {
    struct slice names[GRAPH_MAX_NAMES];
    size_t count;
};

/* Whether a plain name is, or depends on, the API token: access_token, appsecret_proof. */
bool graph_is_secret(struct slice name);

/* Checks a name: fails the request unless all readers understand it alike (plain_name.h); and for a
 * parameter with which the platform would do something else than path and method say: `method`,
 * `batch`, `ids` with a node, a second `fields`. Returns 0 or -1. */
int graph_check_name(struct request *rq, struct graph_seen *seen, struct slice name);

/* The same for a name of a query or form; fails also when it clashes with one of `names`, which it
 * is added to. */
int graph_take_name(struct request *rq, struct graph_seen *seen, struct graph_names *names,
                    struct slice name);

/* The parts of a multipart form so far. */
struct graph_parts {
    struct request *rq;
    struct graph_seen *seen;
    struct graph_names names;
};

/* The same for a part of a multipart form, which may hold neither a token nor `fields`. `checker`:
 * the struct graph_parts; for struct form_source (form_copy.h). */
int graph_check_part(void *checker, const struct part *part);

#endif
