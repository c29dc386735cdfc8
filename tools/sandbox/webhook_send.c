#include "webhook_send.h"

#include "timer.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_KEPT = 4096 };

struct transfer {
    CURL *easy;
    struct curl_slist *headers;
    uint64_t start;
    struct attempt *attempt;
};

char *webhook_sign(const char *secret, const struct bytes *body) {
    crypto_auth_hmacsha256_state state;
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char hex[2 * sizeof mac + 1];

    crypto_auth_hmacsha256_init(&state, (const unsigned char *)secret, strlen(secret));
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)body->data, body->length);
    crypto_auth_hmacsha256_final(&state, mac);
    bytes_hex(hex, mac, sizeof mac);
    return memory_format("sha256=%s", hex);
}

static size_t keep_answer(char *data, size_t size, size_t count, void *cls) {
    struct attempt *attempt = cls;
    size_t length = size * count;
    size_t room = ANSWER_KEPT - attempt->answer.length;

    bytes_append(&attempt->answer, data, length < room ? length : room);
    return length;
}

static void add_header(struct transfer *transfer, const char *name, const char *value) {
    char *line = memory_format("%s: %s", name, value);

    transfer->headers = curl_slist_append(transfer->headers, line);
    free(line);
}

static CURL *make_easy(struct post *post, struct transfer *transfer, uint64_t timeout_ms) {
    CURL *easy = curl_easy_init();

    curl_easy_setopt(easy, CURLOPT_URL, post->url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "facebookexternalua");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer->attempt);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, post);
    if (!post->get) {
        add_header(transfer, "Content-Type", "application/json");
        transfer->headers = curl_slist_append(transfer->headers, "Expect:");
        if (post->signature != NULL) {
            add_header(transfer, "X-Hub-Signature-256", post->signature);
        }
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.length);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post->body.data == NULL ? "" : post->body.data);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    return easy;
}

static void transfer_begin(CURLM *multi, struct post *post, uint64_t timeout_ms) {
    struct transfer *transfer = memory_new(sizeof *transfer);

    transfer->attempt = &post->attempts[post->attempt_count++];
    transfer->start = clock_monotonic();
    transfer->easy = make_easy(post, transfer, timeout_ms);
    post->transfer = transfer;
    curl_multi_add_handle(multi, transfer->easy);
}

static void transfer_end(CURLM *multi, struct post *post) {
    struct transfer *transfer = post->transfer;

    curl_multi_remove_handle(multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    free(transfer);
    post->transfer = NULL;
}

/* Ends an attempt: the post is delivered, due again later, or given up. */
static void attempt_end(CURLM *multi, struct post *post, CURLcode result,
                        const struct send_rules *rules) {
    struct attempt *attempt = post->transfer->attempt;
    uint64_t done = post->attempt_count;

    curl_easy_getinfo(post->transfer->easy, CURLINFO_RESPONSE_CODE, &attempt->status);
    attempt->milliseconds = clock_monotonic() - post->transfer->start;
    if (result != CURLE_OK) {
        attempt->error = memory_text(curl_easy_strerror(result));
    }
    transfer_end(multi, post);
    post->delivered = result == CURLE_OK && attempt->status == 200;
    post->finished = post->delivered || done > rules->retries || done == ATTEMPTS_MAX;
    post->due = clock_monotonic() + (rules->retry_ms << (done - 1 < 20 ? done - 1 : 20));
}

/* Starts the posts that are due, in order. Returns the number of posts that are not finished. */
static size_t posts_start(CURLM *multi, struct post *posts, size_t count,
                          const struct send_rules *rules) {
    uint64_t now = clock_monotonic();
    size_t active = 0;
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        active += posts[i].transfer != NULL;
    }
    for (size_t i = 0; i < count; i++) {
        struct post *post = &posts[i];

        left += !post->finished;
        if (!post->finished && post->transfer == NULL && active < rules->parallel) {
            if (post->due <= now) {
                transfer_begin(multi, post, rules->timeout_ms);
            }
            active++;
        }
    }
    return left;
}

/* Ends the attempts whose transfers have ended. Returns true if there were any. */
static bool posts_collect(CURLM *multi, const struct send_rules *rules) {
    CURLMsg *message;
    bool any = false;
    int left;

    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        char *private = NULL;

        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        any = true;
        attempt_end(multi, (struct post *)(void *)private, message->data.result, rules);
    }
    return any;
}

void posts_send(struct post *posts, size_t count, const struct send_rules *rules,
                bool (*stopped)(void)) {
    CURLM *multi = curl_multi_init();
    int running;

    while (!stopped() && posts_start(multi, posts, count, rules) > 0) {
        curl_multi_perform(multi, &running);
        if (!posts_collect(multi, rules)) {
            curl_multi_poll(multi, NULL, 0, running > 0 ? 50 : 5, NULL);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (posts[i].transfer != NULL) {
            transfer_end(multi, &posts[i]);
        }
    }
    curl_multi_cleanup(multi);
}

static void print_attempt(struct bytes *out, const struct attempt *attempt) {
    bytes_format(out, "{\"status\":%ld,\"ms\":%llu,\"error\":", attempt->status,
                 (unsigned long long)attempt->milliseconds);
    if (attempt->error == NULL) {
        bytes_text(out, "null");
    } else {
        json_quote(out, attempt->error, strlen(attempt->error));
    }
    bytes_text(out, ",\"answer\":");
    json_quote(out, attempt->answer.data == NULL ? "" : attempt->answer.data,
               attempt->answer.length);
    bytes_text(out, "}");
}

void post_print(struct bytes *out, const struct post *post, bool body) {
    bytes_text(out, "{\"ids\":");
    json_print(out, post->ids);
    bytes_text(out, ",\"signature\":");
    if (post->signature == NULL) {
        bytes_text(out, "null");
    } else {
        json_quote(out, post->signature, strlen(post->signature));
    }
    bytes_format(out, ",\"delivered\":%s,\"bodyLength\":%zu", post->delivered ? "true" : "false",
                 post->body.length);
    if (body) {
        bytes_text(out, ",\"body\":");
        json_quote(out, post->body.data == NULL ? "" : post->body.data, post->body.length);
    }
    bytes_text(out, ",\"attempts\":[");
    for (size_t i = 0; i < post->attempt_count; i++) {
        bytes_text(out, i == 0 ? "" : ",");
        print_attempt(out, &post->attempts[i]);
    }
    bytes_text(out, "]}");
}

void post_release(struct post *post) {
    free(post->url);
    free(post->signature);
    bytes_release(&post->body);
    cJSON_Delete(post->ids);
    for (size_t i = 0; i < post->attempt_count; i++) {
        free(post->attempts[i].error);
        bytes_release(&post->attempts[i].answer);
    }
}
