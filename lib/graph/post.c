#include "graph/post.h"

bool graph_post_start(struct graph_post *post, CURLM *multi, const struct config *config,
                      struct arena *arena, const struct graph_call *call, void *context) {
    struct http_client *http = &post->transfer.http;
    if (!post->curl)
        post->curl = curl_easy_init();
    transfer_start_with(&post->transfer, post->curl, config, arena, call->token, &post->answer);
    http_set(http, CURLOPT_PRIVATE, context);
    graph_call_describe(http, config, arena, call);
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

void graph_post_free(struct graph_post *post) {
    curl_easy_cleanup(post->curl);
    post->curl = NULL;
}
