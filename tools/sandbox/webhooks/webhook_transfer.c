#include "webhooks/webhook_transfer.h"

#include <curl/curl.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "state/settings.h"

enum { ANSWER_KEPT = 4096 };

struct transfer {
    CURL *easy;
    struct curl_slist *headers;
    int64_t start;
    struct attempt *attempt;
};

/* A call of posts_send. */
struct delivery {
    struct arena *arena;
    CURLM *multi;
    struct post *posts;
    size_t count;
    const struct send_rules *rules;
};

static atomic_bool stopped;

void posts_stop(void) {
    stopped = true;
}

bool posts_stopped(void) {
    return stopped;
}

struct send_rules send_rules_default(void) {
    return (struct send_rules){.parallel = 1,
                               .retries = settings.webhook_retries,
                               .retry_ms = settings.webhook_retry_ms,
                               .timeout_ms = settings.webhook_timeout_ms};
}

static size_t keep_answer(char *data, size_t size, size_t count, void *cls) {
    struct attempt *attempt = cls;
    size_t length = size * count;
    size_t room = ANSWER_KEPT - attempt->answer.n;
    buffer_add(&attempt->answer, data, length < room ? length : room);
    return length;
}

static void add_header(struct delivery *delivery, struct transfer *transfer, const char *name,
                       const char *value) {
    transfer->headers =
        curl_slist_append(transfer->headers, arena_printf(delivery->arena, "%s: %s", name, value));
}

static void set_body(struct delivery *delivery, const struct post *post,
                     struct transfer *transfer) {
    add_header(delivery, transfer, "Content-Type", "application/json");
    transfer->headers = curl_slist_append(transfer->headers, "Expect:");
    if (post->signature)
        add_header(delivery, transfer, "X-Hub-Signature-256", post->signature);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.n);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, slice_octets(post->body));
}

static void set_options(struct delivery *delivery, struct post *post, struct transfer *transfer) {
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_URL, post->url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)delivery->rules->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "facebookexternalua");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer->attempt);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, post);
    if (!post->get)
        set_body(delivery, post, transfer);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
}

static void transfer_begin(struct delivery *delivery, struct post *post) {
    struct transfer *transfer = arena_alloc(delivery->arena, sizeof *transfer);
    transfer->attempt = &post->attempts[post->attempt_count++];
    transfer->attempt->answer = buffer_in(delivery->arena);
    transfer->start = clock_monotonic();
    transfer->easy = curl_easy_init();
    set_options(delivery, post, transfer);
    post->transfer = transfer;
    curl_multi_add_handle(delivery->multi, transfer->easy);
}

static void transfer_end(struct delivery *delivery, struct post *post) {
    struct transfer *transfer = post->transfer;
    curl_multi_remove_handle(delivery->multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    post->transfer = NULL;
}

/* Ends an attempt: the post is delivered, due again later, or given up. */
static void attempt_end(struct delivery *delivery, struct post *post, CURLcode result) {
    const struct send_rules *rules = delivery->rules;
    struct attempt *attempt = post->transfer->attempt;
    size_t done = post->attempt_count;
    curl_easy_getinfo(post->transfer->easy, CURLINFO_RESPONSE_CODE, &attempt->status);
    attempt->milliseconds = clock_monotonic() - post->transfer->start;
    if (result != CURLE_OK)
        attempt->error = curl_easy_strerror(result);
    transfer_end(delivery, post);
    post->delivered = result == CURLE_OK && attempt->status == 200;
    post->finished = post->delivered || (int64_t)done > rules->retries || done == ATTEMPTS_MAX;
    post->due = clock_monotonic() + rules->retry_ms * ((int64_t)1 << (done < 21 ? done - 1 : 20));
}

/* Starts the posts that are due, in order. Returns the number of posts that are not finished. */
static size_t posts_start(struct delivery *delivery) {
    int64_t now = clock_monotonic();
    size_t active = 0, left = 0;
    for (size_t i = 0; i < delivery->count; i++)
        active += delivery->posts[i].transfer != NULL;
    for (size_t i = 0; i < delivery->count; i++) {
        struct post *post = &delivery->posts[i];
        left += !post->finished;
        if (post->finished || post->transfer || active >= delivery->rules->parallel)
            continue;
        if (post->due <= now)
            transfer_begin(delivery, post);
        active++;
    }
    return left;
}

/* Ends the attempts whose transfers have ended. Returns whether there were any. */
static bool posts_collect(struct delivery *delivery) {
    CURLMsg *message;
    bool any = false;
    int left;
    while ((message = curl_multi_info_read(delivery->multi, &left))) {
        char *private = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        any = true;
        attempt_end(delivery, (struct post *)(void *)private, message->data.result);
    }
    return any;
}

void posts_send(struct arena *arena, struct post *posts, size_t count,
                const struct send_rules *rules) {
    struct delivery delivery = {arena, curl_multi_init(), posts, count, rules};
    int running;
    while (!stopped && posts_start(&delivery) > 0) {
        curl_multi_perform(delivery.multi, &running);
        if (!posts_collect(&delivery))
            curl_multi_poll(delivery.multi, NULL, 0, running > 0 ? 50 : 5, NULL);
    }
    for (size_t i = 0; i < count; i++)
        if (posts[i].transfer)
            transfer_end(&delivery, &posts[i]);
    curl_multi_cleanup(delivery.multi);
}
