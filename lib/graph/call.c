#include "graph/call.h"

#include "base/buffer.h"
#include "graph/transfer.h"

char *graph_escape(struct arena *arena, struct slice text) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    struct buffer out = buffer_in(arena);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] && strchr(plain, text.p[i]))
            buffer_add_char(&out, text.p[i]);
        else
            buffer_printf(&out, "%%%02X", (unsigned char)text.p[i]);
    buffer_add(&out, "", 0);
    return out.p;
}

void graph_call_describe(struct http_client *http, const struct config *config, struct arena *arena,
                         const struct graph_call *call) {
    http_set(
        http, CURLOPT_URL,
        arena_printf(arena, "%s/%s/%s", config->graph_base_url, config->graph_version, call->path));
    http_set(http, CURLOPT_TIMEOUT_MS,
             call->limit_ms ? (long)call->limit_ms : (long)GRAPH_CALL_TIMEOUT_MS);
    if (call->body.p) {
        http_add_header(http, "Content-Type: application/json");
        http_set(http, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
        http_set(http, CURLOPT_POSTFIELDS, call->body.p);
    }
}

void graph_call(const struct config *config, struct arena *arena, const struct graph_call *call,
                struct graph_answer *answer) {
    struct transfer transfer;
    transfer_start(&transfer, config, arena, call->token, answer);
    transfer.is_repeatable = strcmp(call->method, "GET") == 0;
    graph_call_describe(&transfer.http, config, arena, call);
    transfer_perform(&transfer);
}
