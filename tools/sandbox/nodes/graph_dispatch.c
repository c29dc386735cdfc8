#include "nodes/graph_dispatch.h"

#include "nodes/graph_edges.h"
#include "nodes/target_find.h"
#include "text/json_print.h"
#include "wire/graph_error.h"

enum { IDS_MAX = 50 };

static const struct edge *edge_find(const char *method, enum node node, const char *name,
                                    bool *known) {
    *known = false;
    for (const struct edge *edge = graph_edges; edge->method; edge++) {
        if (edge->node == node && strcmp(edge->name, name) == 0) {
            *known = true;
            if (strcmp(edge->method, method) == 0)
                return edge;
        }
    }
    return NULL;
}

static bool is_read(const struct exchange *exchange) {
    return strcmp(exchange->method, "GET") == 0 || strcmp(exchange->method, "HEAD") == 0;
}

/* The platform reads an unknown edge as a field, and refuses a change of it as one of the node. */
static void refuse_edge(struct exchange *exchange, const struct target *target, const char *name,
                        bool known) {
    if (known || !is_read(exchange))
        reply_unknown_object(exchange, target->id);
    else
        reply_error(exchange, 100,
                    "(#100) Tried accessing nonexisting field (%.100s) on node type (%s)", name,
                    target_type(target->node));
}

/* Appends one node of `?ids=`. Returns false after answering with an error. */
static bool answer_id(struct exchange *exchange, const char *id) {
    struct target target = target_find(id, exchange_token(exchange));
    bool known;
    const struct edge *edge = edge_find("GET", target.node, "", &known);
    if (!edge) {
        reply_unknown_object(exchange, id);
        return false;
    }
    json_quote_text(&exchange->reply.body, id);
    buffer_add_char(&exchange->reply.body, ':');
    edge->answer(exchange, &target);
    return exchange->reply.status == 200;
}

/* Answers `?ids=a,b` with an object of the nodes. */
static void answer_ids(struct exchange *exchange, const char *ids) {
    struct slice rest = slice_of(ids);
    size_t count = 0;
    buffer_add_char(&exchange->reply.body, '{');
    while (rest.n > 0) {
        struct slice id = slice_cut(&rest, ',');
        if (slice_has_word((struct slice){ids, (size_t)(id.p - ids)}, ',', id))
            continue; /* it is repeated */
        if (count++ == IDS_MAX) {
            reply_error(exchange, 100, "(#100) Too many IDs: at most %d are allowed.", IDS_MAX);
            return;
        }
        if (count > 1)
            buffer_add_char(&exchange->reply.body, ',');
        if (!answer_id(exchange, arena_copy(exchange->arena, id)))
            return;
    }
    if (count == 0)
        reply_error(exchange, 2500, "Cannot specify an empty identifier");
    else
        buffer_add_char(&exchange->reply.body, '}');
}

/* The root of a version has no answer of its own. */
static void answer_root(struct exchange *exchange) {
    const char *ids = is_read(exchange) ? exchange_parameter(exchange, "ids") : NULL;
    if (ids)
        answer_ids(exchange, ids);
    else
        reply_unknown_object(exchange, "");
}

static void answer_node(struct exchange *exchange, const char *id) {
    const char *method = is_read(exchange) ? "GET" : exchange->method;
    const char *name = exchange_segment(exchange, 2);
    struct target target = target_find(id, exchange_token(exchange));
    bool known;
    if (exchange->segment_count > 3) {
        target.part = exchange_segment(exchange, 3);
        name = arena_printf(exchange->arena, "%s/", name);
    }
    const struct edge *edge = edge_find(method, target.node, name, &known);
    if (target.node == NODE_NONE)
        reply_unknown_object(exchange, id);
    else if (!edge || exchange->segment_count > 4)
        refuse_edge(exchange, &target, name, known);
    else if (!exchange->json && !exchange->upload && !is_read(exchange))
        reply_error(exchange, 100, "(#100) The request body is not valid JSON.");
    else
        edge->answer(exchange, &target);
}

void graph_dispatch(struct exchange *exchange) {
    const char *id = exchange_segment(exchange, 1);
    if (*id == '\0')
        answer_root(exchange);
    else
        answer_node(exchange, id);
}
