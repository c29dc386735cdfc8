#include "graph/post.h"

bool graph_post_start(struct graph_post *post, CURLM *multi, const struct config *config,
                      struct arena *arena, const struct graph_call *call,
                      struct graph_owner *owner) {
    struct http_client *http = &post->transfer.http;
    if (!post->curl)
        post->curl = curl_easy_init();
    transfer_start_with(&post->transfer, post->curl, config, arena, call->token, &post->answer);
    http_set(http, CURLOPT_PRIVATE, owner);
    post->transfer.is_repeatable = strcmp(call->method, "GET") == 0;
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
