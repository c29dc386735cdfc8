#include "api/graph/graph_node.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/graph/graph_failure.h"
#include "api/selector.h"
#include "web/route.h"

enum { LONGEST_ID = 32 };

static bool is_id(struct slice id) {
    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] < '0' || id.p[i] > '9')
            return false;
    return id.n >= 1 && id.n <= LONGEST_ID;
}

/* Finds the caller's account with this WABA id. Returns 1, 0 when there is none, -1 after failing
 * the request. */
static int find_account(struct request *rq, struct graph_node *node) {
    struct store_account *accounts;
    size_t count;
    if (auth_list_accounts(rq, &accounts, &count))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (strcmp(accounts[i].waba_id, node->id) == 0) {
            node->kind = GRAPH_WABA;
            node->accounts = &accounts[i];
            node->count = 1;
            return 1;
        }
    return 0;
}

/* The same for the caller's line with this phone number id. */
static int find_line(struct request *rq, struct graph_node *node) {
    struct caller *caller = rq->caller;
    enum store_result result =
        store_find_line(caller->store, rq->arena, &caller->view, node->id, &caller->line);
    if (result == STORE_NOT_FOUND)
        return 0;
    if (result != STORE_OK)
        return state_fail(rq, result);
    json_write_text(&rq->log, "line", caller->line.id);
    node->kind = GRAPH_PHONE;
    node->accounts = &caller->line.account;
    node->count = 1;
    return 1;
}

/* An id of another user's line or account may be one that the platform would answer for, because
 * two users can have the same platform access token. */
static int find_object(struct request *rq, struct graph_node *node) {
    enum store_result result = store_is_platform_id(rq->caller->store, node->id);
    if (result == STORE_OK)
        return graph_fail_unknown(rq);
    if (result != STORE_NOT_FOUND)
        return state_fail(rq, result);
    node->kind = GRAPH_OBJECT;
    return selector_list(rq, &node->accounts, &node->count);
}

int graph_find_node(struct request *rq, struct slice id, struct graph_node *node) {
    *node = (struct graph_node){0};
    if (!is_id(id))
        return graph_fail_unknown(rq);
    node->id = arena_copy(rq->arena, id);
    if (strcmp(node->id, GRAPH_APP_ID) == 0) {
        node->kind = GRAPH_APP;
        return 0;
    }
    state_hold_view(rq);
    int found = find_line(rq, node);
    if (!found)
        found = find_account(rq, node);
    return found ? found > 0 ? 0 : -1 : find_object(rq, node);
}

bool graph_is_elsewhere(struct request *rq, const struct graph_answer *answer) {
    struct json body;
    struct json_error error;
    int64_t code, subcode;
    if (answer->status == 404)
        return true;
    return answer->status == 400 && json_read(rq->arena, answer->body, &body, &error) == 0 &&
           json_integer(json_find(body, "error.code"), &code) && code == 100 &&
           json_integer(json_find(body, "error.error_subcode"), &subcode) && subcode == 33;
}

/* --- edges --- */

/* Whether the segment is a step within the path, which libcurl and servers would carry out. */
static bool is_step(struct slice segment) {
    return slice_equal(segment, SLICE(".")) || slice_equal(segment, SLICE(".."));
}

/* Whether the edge's name is the path, and the request has the parameter of the name. */
static bool is_edge(struct request *rq, const struct graph_edge *edge, const char *path) {
    struct slice parameter = slice_of(edge->name);
    const char *name = arena_copy(rq->arena, slice_cut(&parameter, '?'));
    struct slice found[MAX_PATH_PARAMETERS];
    return route_matches(name, path, found) && !is_step(found[0]) &&
           (!parameter.n || graph_parameter(rq, parameter.p).p);
}

const struct graph_edge *graph_find_edge(struct request *rq, const struct graph_edge *edges,
                                         unsigned kinds) {
    const struct graph_request *graph = rq->graph;
    const char *path = kinds == GRAPH_ROOT ? slice_skip(slice_of(rq->path), 1).p
                                           : arena_copy(rq->arena, graph->edge);
    for (; edges->method; edges++)
        if (edges->of & kinds && strcmp(edges->method, rq->method) == 0 && is_edge(rq, edges, path))
            return edges;
    return NULL;
}

static const char *const actions[GRAPH_ACTIONS] = {
    [GRAPH_FORWARDED] = "forwarded",
    [GRAPH_RECORDED] = "forwarded and recorded",
    [GRAPH_LOCAL] = "answered here",
    [GRAPH_DESTRUCTIVE] = "forwarded if graph_destructive is yes",
};

static const struct {
    enum graph_kind kind;
    const char *segment;
} segments[] = {{GRAPH_ROOT, ""},         {GRAPH_PHONE, "/:phone"},       {GRAPH_WABA, "/:waba"},
                {GRAPH_MEDIA, "/:media"}, {GRAPH_TEMPLATE, "/:template"}, {GRAPH_FLOW, "/:flow"},
                {GRAPH_APP, "/:app"},     {GRAPH_UPLOAD, "/:upload"}};

void graph_check_edges(const struct graph_edge *edges) {
    for (; edges->method; edges++)
        if (!scope_name(edges->scope) && edges->scope != SCOPE_NONE) {
            fprintf(stderr, "The edge %s \"%s\" must have one scope in its row\n", edges->method,
                    edges->name);
            exit(EXIT_FAILURE);
        }
}

void graph_write_edges(struct json_writer *out, const char *name, const struct graph_edge *edges) {
    graph_check_edges(edges);
    json_write_array(out, name);
    for (; edges->method; edges++)
        for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
            char path[96];
            if (!(edges->of & segments[i].kind))
                continue;
            snprintf(path, sizeof path, "%s%s%s", segments[i].segment,
                     !*segments[i].segment || strcspn(edges->name, "?") ? "/" : "", edges->name);
            json_write_object(out, NULL);
            json_write_text(out, "method", edges->method);
            json_write_text(out, "path", path);
            json_write_text(out, "action", actions[edges->action]);
            json_write_text(out, "scope", scope_name(edges->scope));
            route_write_trail(out, edges->trail);
            json_write_end(out);
        }
    json_write_end(out);
}
