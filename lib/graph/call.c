#include "graph/call.h"

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

/* Sets URL, time limit and body of the call on a handle that transfer_start has set up. */
static void describe(struct transfer *transfer, const struct config *config,
                     const struct graph_call *call) {
    struct http_client *http = &transfer->http;
    struct arena *arena = transfer->arena;
    transfer->is_repeatable = strcmp(call->method, "GET") == 0;
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
    describe(&transfer, config, call);
    transfer_perform(&transfer);
}

/* --- many calls at a time --- */

bool graph_post_start(struct graph_post *post, CURLM *multi, const struct config *config,
                      struct arena *arena, const struct graph_call *call,
                      struct graph_owner *owner) {
    struct http_client *http = &post->transfer.http;
    if (!post->curl)
        post->curl = curl_easy_init();
    transfer_start_with(&post->transfer, post->curl, config, arena, call->token, &post->answer);
    http_set(http, CURLOPT_PRIVATE, owner);
    describe(&post->transfer, config, call);
    CURLcode code = http_ready(http);
    if (code == CURLE_OK && curl_multi_add_handle(multi, http->curl) == CURLM_OK)
        return true;
    transfer_end(&post->transfer, code ? code : CURLE_FAILED_INIT);
    return false;
}

void graph_post_end(struct graph_post *post, CURLM *multi, CURLcode code) {
    transfer_end(&post->transfer, code);
    curl_multi_remove_handle(multi, post->curl);
}

size_t graph_owners_advance(CURLM *multi) {
    int running, left;
    size_t ended = 0;
    CURLMsg *message;
    curl_multi_perform(multi, &running);
    while ((message = curl_multi_info_read(multi, &left))) {
        struct graph_owner *owner = NULL;
        const CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&owner);
        owner->ended(owner, multi, code);
        ended++;
    }
    return ended;
}

void graph_post_free(struct graph_post *post) {
    curl_easy_cleanup(post->curl);
    post->curl = NULL;
}
