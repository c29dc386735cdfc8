/* Paths in the platform's form: the path that routes are chosen by has the node and its edge, and
 * the path that is called has only characters of a path. Fields of connected nodes never pass. */
#include "api/graph/graph_forward.h"

#include "api/graph/graph_fields.h"
#include "fuzz.h"

static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                              "-._~%/";

static void check_path(struct request *rq, const char *path) {
    rq->path = path;
    graph_enter(rq);
    const struct graph_request *graph = rq->graph;
    MUST(*rq->path == '/' && (!graph->node.n || !memchr(graph->node.p, '/', graph->node.n)));
    MUST(!graph->edge.n ||
         (graph->edge.p[0] != '/' && graph->edge.p[graph->edge.n - 1] != '/' && graph->node.n));
    MUST(strlen(rq->path) == 1 + graph->node.n + (graph->edge.n != 0) + graph->edge.n);
    MUST(!graph->prefix.n || graph->prefix.p[0] == '/');
    const struct graph_node node = {.id = "1"};
    const struct graph_relay relay = graph_outgoing(rq, &node);
    MUST(relay.path[0] == '1' && relay.path[strspn(relay.path, allowed)] == '\0');
}

/* Fields of objects that pass have neither braces nor names that are not listed. */
static void check_fields(struct request *rq, const char *text) {
    struct query_value value = {SLICE("fields"), slice_of(text)};
    rq->graph->parameters = (struct query){.values = &value, .count = 1};
    if (graph_check_fields(rq, GRAPH_OBJECT))
        MUST(rq->failure.code == INVALID);
    else
        MUST(!strpbrk(text, "{}") && !strstr(text, ".fields("));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    char *text = fuzz_text(data, size);
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    struct request rq = {.arena = &arena, .method = "GET"};
    check_path(&rq, text);
    check_fields(&rq, text);
    arena_free(&arena);
    free(text);
    return 0;
}
