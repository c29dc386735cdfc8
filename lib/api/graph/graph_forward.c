#include "api/graph/graph_forward.h"

#include <stdlib.h>

#include "api/graph/graph_failure.h"
#include "api/upstream.h"
#include "base/log.h"
#include "web/reply.h"

/* --- the request --- */

struct graph_relay graph_outgoing(struct request *rq, const struct graph_node *node) {
    const struct graph_request *graph = rq->graph;
    struct buffer path = buffer_in(rq->arena);
    struct slice rest = graph->edge;
    buffer_add_text(&path, node->id ? node->id : "");
    while (rest.n)
        buffer_printf(&path, "/%s", graph_escape(rq->arena, slice_cut(&rest, '/')));
    return (struct graph_relay){.method = rq->method,
                                .path = path.p,
                                .query = graph->query,
                                .content_type = graph->content_type,
                                .body = graph->body};
}

int graph_fail_unanswered(struct request *rq, const struct graph_relay *relay,
                          const struct graph_answer *answer) {
    if (answer->was_sent && strcmp(relay->method, "GET") != 0)
        return fail(rq, BAD_GATEWAY,
                    "The platform did not answer: %s; whether it did what was asked is not known.",
                    answer->failure);
    reply_header(rq, "Retry-After", UPSTREAM_UNREACHED_SECONDS);
    return fail(rq, UNAVAILABLE, "The platform could not be reached: %s.", answer->failure);
}

int graph_ask(struct request *rq, const struct graph_node *node, struct graph_relay *relay,
              struct graph_outcome *outcome) {
    struct graph_outcome refused = {0};
    for (size_t i = 0; i < node->count; i++) {
        struct graph_answer *answer = &outcome->relayed.answer;
        outcome->account = &node->accounts[i];
        relay->token = outcome->token = state_account_token(rq, outcome->account);
        if (!relay->token)
            return -1;
        upstream_relay(rq, relay, NULL, &outcome->relayed);
        if (!answer->status)
            return graph_fail_unanswered(rq, relay, answer);
        if (answer->status < 400 || answer->status > 499)
            return 0;
        if (!refused.account && !graph_is_elsewhere(rq, answer))
            refused = *outcome;
    }
    if (refused.account)
        *outcome = refused;
    return 0;
}

/* --- the answer --- */

/* The longest header that is passed on: Apache refuses an answer with a line of 8 KB. */
enum { LONGEST_HEADER = 4096 };

/* Whether the body is a JSON object, or the `true` with which the platform answers some calls. One
 * beyond the limits of our reader is JSON too. */
static bool is_json(struct request *rq, struct slice body) {
    struct json json;
    struct json_error error;
    struct slice rest = body, first = json_cut_token(&rest);
    if (!slice_starts(first, SLICE("{")) && !slice_starts(first, SLICE("true")))
        return false;
    return json_read(rq->arena, body, &json, &error) == 0 || error.is_limit;
}

static bool contains(struct slice text, const char *part) {
    return text.n && memmem(text.p, text.n, part, strlen(part)) != NULL;
}

/* The text with each escape of JSON that stands for an ASCII character replaced by it. */
static struct slice without_escapes(struct arena *arena, struct slice text) {
    char *out = arena_alloc(arena, text.n), digits[5] = {0};
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        out[n] = text.p[i];
        if (text.p[i] == '\\' && i + 1 < text.n)
            out[n] = text.p[++i];
        if (i && text.p[i - 1] == '\\' && text.p[i] == 'u' && text.n - i > 4) {
            memcpy(digits, text.p + i + 1, 4);
            out[n] = (char)strtoul(digits, NULL, 16);
            i += 4;
        }
        n++;
    }
    return (struct slice){out, n};
}

/* Whether the text holds the token: as it is, percent-encoded, or with escapes of JSON. */
static bool has_token(struct request *rq, struct slice text, const char *token) {
    if (contains(text, token) || contains(text, graph_escape(rq->arena, slice_of(token))))
        return true;
    return text.n && memchr(text.p, '\\', text.n) &&
           contains(without_escapes(rq->arena, text), token);
}

/* Adds a header of the platform's answer; NULL: it has none. */
static void copy_header(struct request *rq, const struct graph_outcome *outcome, const char *name,
                        const char *value) {
    if (value && strlen(value) <= LONGEST_HEADER && !has_token(rq, slice_of(value), outcome->token))
        reply_header(rq, name, value);
}

static int fail_on_answer(struct request *rq, const struct graph_answer *answer) {
    if (answer->status == 503)
        return fail(rq, UNAVAILABLE, "The platform is not available.");
    return fail(
        rq, BAD_GATEWAY,
        "The platform answered %d without JSON; whether it did what was asked is not known.",
        answer->status);
}

int graph_reply(struct request *rq, const struct graph_outcome *outcome, struct slice body) {
    const struct graph_relayed *relayed = &outcome->relayed;
    const struct graph_answer *answer = &relayed->answer;
    copy_header(rq, outcome, "Retry-After", answer->retry_after);
    if (answer->status < 200 || (answer->status >= 300 && answer->status < 400) ||
        !is_json(rq, body))
        return fail_on_answer(rq, answer);
    if (has_token(rq, body, outcome->token)) {
        log_message(LOG_ERROR, "request %s: the platform's answer holds its token", rq->id);
        return fail(rq, INTERNAL, "The platform's answer holds a secret and is not passed on.");
    }
    if (answer->status == 401) /* every 401 has one (RFC 9110 15.5.2) */
        reply_challenge(rq);
    for (size_t i = 0; i < GRAPH_RELAY_HEADERS; i++)
        copy_header(rq, outcome, graph_relay_headers[i], relayed->headers[i]);
    return reply_body(rq, answer->status, GRAPH_JSON, body);
}

int graph_forward(struct request *rq, const struct graph_node *node) {
    const struct graph_edge *row = rq->graph->row;
    struct graph_relay relay = graph_outgoing(rq, node);
    struct graph_outcome outcome;
    if (graph_ask(rq, node, &relay, &outcome))
        return -1;
    struct slice body = outcome.relayed.answer.body;
    if (row->rewrite && outcome.relayed.answer.status < 300)
        body = row->rewrite(rq, node, &outcome);
    return body.p ? graph_reply(rq, &outcome, body) : -1;
}

/* --- the kind of an object --- */

static enum graph_kind kind_of(struct json object) {
    if (json_type(json_get(object, "mime_type")) == JSON_STRING)
        return GRAPH_MEDIA;
    if (json_type(json_get(object, "components")) == JSON_ARRAY)
        return GRAPH_TEMPLATE;
    return json_type(json_get(object, "categories")) == JSON_ARRAY ? GRAPH_FLOW : GRAPH_OBJECT;
}

int graph_identify(struct request *rq, struct graph_node *node) {
    struct graph_relay relay = {.method = "GET", .path = node->id};
    struct graph_outcome outcome;
    struct json_error error;
    struct json object = {0};
    if (graph_ask(rq, node, &relay, &outcome))
        return -1;
    const struct graph_answer *answer = &outcome.relayed.answer;
    if (graph_is_elsewhere(rq, answer))
        return graph_fail_unknown(rq);
    if (answer->status > 299)
        return graph_reply(rq, &outcome, answer->body) ? -1 : 1;
    node->accounts = arena_alloc(rq->arena, sizeof *node->accounts);
    *node->accounts = *outcome.account;
    node->count = 1;
    if (json_read(rq->arena, answer->body, &object, &error) == 0)
        node->kind = kind_of(object);
    return node->kind == GRAPH_OBJECT ? graph_fail_unknown(rq) : 0;
}
