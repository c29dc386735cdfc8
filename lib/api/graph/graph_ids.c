#include "api/graph/graph_ids.h"

#include "api/graph/graph_failure.h"
#include "api/graph/graph_fields.h"
#include "api/graph/graph_links.h"

enum { MOST_IDS = 20 };

/* Reads one node and adds it to `all`. Returns 0, or -1 after failing the request or replying with
 * an error of the platform. */
static int add_node(struct request *rq, struct slice id, struct buffer *all,
                    struct graph_outcome *outcome) {
    struct graph_node node;
    if (graph_find_node(rq, id, &node) || graph_check_fields(rq, node.kind))
        return -1;
    struct graph_relay relay = graph_outgoing(rq, &node);
    if (graph_ask(rq, &node, &relay, outcome))
        return -1;
    struct slice body = outcome->relayed.answer.body;
    if (outcome->relayed.answer.status < 300)
        body = graph_rewrite_object(rq, &node, outcome);
    if (!body.p || graph_reply(rq, outcome, body) || outcome->relayed.answer.status > 299)
        return -1;
    buffer_printf(all, "%s\"%s\":", all->n > 1 ? "," : "", node.id);
    buffer_add_slice(all, body);
    return 0;
}

int graph_get_root(struct request *rq, const struct graph_node *node) {
    struct slice ids = query_get(&rq->graph->parameters, "ids");
    struct buffer all = buffer_in(rq->arena);
    struct graph_outcome outcome;
    size_t headers = rq->reply.headers.n;
    (void)node;
    if (!ids.n)
        return graph_fail_unknown(rq);
    buffer_add_char(&all, '{');
    for (int count = 0; ids.n; count++) {
        struct slice id = slice_trim(slice_cut(&ids, ','));
        if (count == MOST_IDS)
            return fail(rq, INVALID, "Too many IDs. Maximum: %d.", MOST_IDS);
        rq->graph->node = id; /* for messages */
        rq->reply.headers.n = headers;
        if (add_node(rq, id, &all, &outcome))
            return rq->failure.code ? -1 : 0;
    }
    buffer_add_char(&all, '}');
    return reply_body(rq, 200, GRAPH_JSON, buffer_slice(&all));
}
