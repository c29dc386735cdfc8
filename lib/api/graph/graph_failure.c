#include "api/graph/graph_failure.h"

#include "api/graph/graph_request.h"
#include "web/reply.h"

/* The members of the platform's error object. */
struct shape {
    int status, code, subcode; /* subcode 0: none */
    const char *type;
};

static const char oauth[] = "OAuthException", method[] = "GraphMethodException";

/* Whether the answer has the header, by which a client may repeat the request. */
static bool is_repeatable(const struct request *rq) {
    static const char name[] = "Retry-After:";
    struct slice rest = buffer_slice(&rq->reply.headers);
    while (rest.n)
        if (slice_starts(slice_cut(&rest, '\n'), SLICE(name)))
            return true;
    return false;
}

static struct shape shape_of(const struct request *rq) {
    if (rq->graph->error_code)
        return (struct shape){reply_status(rq->failure.code), rq->graph->error_code, 0, oauth};
    switch (rq->failure.code) {
    case UNAUTHORIZED: return (struct shape){401, 190, 0, oauth};
    case FORBIDDEN:
    case PLAN_EXPIRED:
    case PLAN_REQUIRED: return (struct shape){403, 10, 0, oauth};
    case NOT_FOUND:
    case METHOD_NOT_ALLOWED: return (struct shape){400, 100, 33, method};
    case UNAVAILABLE: return (struct shape){503, 2, 0, oauth};
    case INTERNAL:
    case BAD_GATEWAY:
        return is_repeatable(rq) ? (struct shape){503, 2, 0, oauth}
                                 : (struct shape){500, 1, 0, oauth};
    default: return (struct shape){reply_status(rq->failure.code), 100, 0, oauth};
    }
}

/* The platform's messages begin with the code where an application is to show it. */
static const char *message(struct request *rq, const struct shape *shape) {
    const char *text = rq->failure.message;
    bool has_code = shape->code == 100 || shape->code == 10 || rq->graph->error_code;
    if (rq->failure.is_verbatim || shape->subcode || !has_code)
        return text;
    return arena_printf(rq->arena, "(#%d) %s", shape->code, text);
}

void graph_settle(struct request *rq) {
    struct shape shape = shape_of(rq);
    struct json_writer out;
    json_write_start_object(&out, rq->arena);
    json_write_object(&out, "error");
    json_write_text(&out, "message", message(rq, &shape));
    json_write_text(&out, "type", shape.type);
    json_write_integer(&out, "code", shape.code);
    if (shape.subcode)
        json_write_integer(&out, "error_subcode", shape.subcode);
    if (shape.code == 2)
        json_write_bool(&out, "is_transient", true);
    if (shape.subcode ? rq->graph->details != NULL : shape.code != 190) {
        json_write_object(&out, "error_data");
        json_write_text(&out, "messaging_product", "whatsapp");
        json_write_text(&out, "details", shape.subcode ? rq->graph->details : rq->failure.message);
        json_write_end(&out);
    }
    json_write_text(&out, "fbtrace_id", rq->id);
    reply_body(rq, shape.status, GRAPH_JSON, json_written(&out));
}

int graph_fail_unknown(struct request *rq) {
    const struct graph_request *graph = rq->graph;
    const char *verb = strcmp(rq->method, "POST") == 0     ? "post"
                       : strcmp(rq->method, "DELETE") == 0 ? "delete"
                                                           : "get";
    if (!graph->node.n)
        return fail_verbatim(
            rq, NOT_FOUND, SLICE(""),
            arena_printf(rq->arena,
                         "Unsupported %s request. Please read the Graph API documentation at "
                         "https://developers.facebook.com/docs/graph-api",
                         verb));
    return fail_verbatim(
        rq, NOT_FOUND, SLICE(""),
        arena_printf(
            rq->arena,
            "Unsupported %s request. Object with ID '%.*s' does not exist, cannot be "
            "loaded due to missing permissions, or does not support this operation. Please "
            "read the Graph API documentation at "
            "https://developers.facebook.com/docs/graph-api",
            verb, (int)(graph->node.n < 64 ? graph->node.n : 64), graph->node.p));
}

int graph_fail_edge(struct request *rq) {
    const struct graph_request *graph = rq->graph;
    const size_t shown = graph->edge.n < 64 ? graph->edge.n : 64;
    rq->graph->details = arena_printf(
        rq->arena,
        "The gateway does not serve %s /%.*s%s%.*s; doc/api/graph.md lists what it serves.",
        rq->method, (int)graph->node.n, graph->node.p, shown ? "/" : "", (int)shown,
        shown ? graph->edge.p : "");
    return graph_fail_unknown(rq);
}
