#include "api/graph/graph_links.h"

#include "api/graph/graph_callbacks.h"
#include "api/media/signed_url.h"
#include "api/template_flows.h"
#include "graph/splice.h"

/* Returns the changed answer; the body as it is when nothing changed. Fails the request when the
 * answer has a link, but the gateway has no URL. */
static struct slice finish(struct request *rq, struct slice body, struct json answer,
                           struct slice changed) {
    if (slice_equal(json_raw(answer), changed))
        return body;
    if (*rq->config->public_url)
        return changed;
    fail(rq, INTERNAL,
         "The answer holds a link, and the gateway cannot make one of its own: its operator must "
         "set public_url.");
    return (struct slice){NULL, 0};
}

/* The token for links: that of the query, percent-encoded; NULL when there is none. */
static const char *link_token(struct request *rq) {
    const struct graph_request *graph = rq->graph;
    return graph->has_query_token
               ? graph_escape(rq->arena, query_get(&graph->parameters, "access_token"))
               : NULL;
}

static struct slice replace_pages(struct request *rq, struct slice body, struct json answer) {
    const struct link_change change = {
        .base = arena_printf(rq->arena, "%s%.*s", rq->config->public_url, (int)rq->graph->prefix.n,
                             rq->graph->prefix.p),
        .token = link_token(rq),
    };
    return finish(rq, body, answer, splice_paging(rq->arena, answer, &change));
}

/* Rewrites an answer, which is a JSON object; `body`: its bytes. */
typedef struct slice rewriting(struct request *rq, const struct graph_node *node,
                               const struct graph_outcome *outcome, struct slice body,
                               struct json answer);

static struct slice rewrite_templates(struct request *rq, const struct graph_node *node,
                                      const struct graph_outcome *outcome, struct slice body,
                                      struct json answer) {
    (void)node;
    template_flows_save(rq, outcome->account, json_get(answer, "data"));
    return replace_pages(rq, body, answer);
}

static struct slice rewrite_object(struct request *rq, const struct graph_node *node,
                                   const struct graph_outcome *outcome, struct slice body,
                                   struct json answer) {
    if (json_type(json_get(answer, "url")) != JSON_STRING)
        return replace_pages(rq, body, answer);
    const struct signed_url url = {.media_id = node->id,
                                   .user_id = rq->caller->user.id,
                                   .account_id = outcome->account->id,
                                   .expires_at = rq->now / 1000 + SIGNED_URL_SECONDS};
    const char *ours = signed_url_make(rq->arena, rq->config->public_url, &url, outcome->token);
    return finish(rq, body, answer, splice_media_url(rq->arena, answer, ours));
}

/* Shows the caller's callbacks in the answer (graph_callbacks.h), and rewrites it (NULL: its pages
 * alone); one that is no JSON object has no links. */
static struct slice rewrite(struct request *rq, const struct graph_node *node,
                            const struct graph_outcome *outcome, rewriting *own) {
    struct json answer;
    struct json_error error;
    struct slice body = outcome->relayed.answer.body;
    if (node->kind & (GRAPH_PHONE | GRAPH_WABA))
        body = graph_show_callbacks(rq, node, body);
    if (!body.p || json_read(rq->arena, body, &answer, &error) || json_type(answer) != JSON_OBJECT)
        return body;
    return own ? own(rq, node, outcome, body, answer) : replace_pages(rq, body, answer);
}

struct slice graph_rewrite_pages(struct request *rq, const struct graph_node *node,
                                 const struct graph_outcome *outcome) {
    return rewrite(rq, node, outcome, NULL);
}

struct slice graph_rewrite_templates(struct request *rq, const struct graph_node *node,
                                     const struct graph_outcome *outcome) {
    return rewrite(rq, node, outcome, rewrite_templates);
}

struct slice graph_rewrite_object(struct request *rq, const struct graph_node *node,
                                  const struct graph_outcome *outcome) {
    return rewrite(rq, node, outcome, rewrite_object);
}
