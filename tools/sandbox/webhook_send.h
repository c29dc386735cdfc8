/* Webhook deliveries: signed POSTs with retries, and several at a time if requested. */
#ifndef SANDBOX_WEBHOOK_SEND_H
#define SANDBOX_WEBHOOK_SEND_H

#include "json.h"

enum { ATTEMPTS_MAX = 32 };

struct attempt {
    long status; /* HTTP status; 0: no answer */
    uint64_t milliseconds;
    char *error; /* NULL if there was an answer */
    struct bytes answer;
};

/* One POST (or the GET of a verification) and its attempts. */
struct post {
    bool get;
    char *url;
    struct bytes body;
    char *signature; /* value of X-Hub-Signature-256; NULL sends none */
    cJSON *ids;
    struct attempt attempts[ATTEMPTS_MAX];
    size_t attempt_count;
    bool delivered;
    bool finished;
    uint64_t due; /* of the next attempt, monotonic */
    struct transfer *transfer;
};

struct send_rules {
    size_t parallel;  /* POSTs in flight */
    uint64_t retries; /* after the first attempt, while the answer is not 200 */
    uint64_t retry_ms;
    uint64_t timeout_ms;
};

/* Returns `sha256=<hex>`, the HMAC-SHA256 of the body, which the caller frees. */
char *webhook_sign(const char *secret, const struct bytes *body);

/* Sends the posts in order and waits until each was delivered or given up, or until stopped()
 * returns true. */
void posts_send(struct post *posts, size_t count, const struct send_rules *rules,
                bool (*stopped)(void));

/* Appends a post and its attempts as JSON; with its body if `body` is true. */
void post_print(struct bytes *out, const struct post *post, bool body);
void post_release(struct post *post);

#endif
