/* Webhook deliveries: signed POSTs with retries, several at a time where asked for. */
#ifndef SANDBOX_WEBHOOK_SEND_H
#define SANDBOX_WEBHOOK_SEND_H

#include "json.h"

enum { ATTEMPTS_MAX = 32 };

struct attempt {
    long status; /* HTTP, 0 when there was no answer */
    uint64_t milliseconds;
    char *error; /* NULL when there was an answer */
    struct bytes answer;
};

/* One POST (or GET, for a verification) and what came of it. */
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

/* `sha256=<hex>`, the HMAC-SHA256 of the body. The caller frees. */
char *webhook_sign(const char *secret, const struct bytes *body);

/* Sends them in order and waits until each was delivered or given up, or until stopped() says so.
 */
void posts_send(struct post *posts, size_t count, const struct send_rules *rules,
                bool (*stopped)(void));

/* Appends what came of a post as JSON; with its body when `body`. */
void post_print(struct bytes *out, const struct post *post, bool body);
void post_release(struct post *post);

#endif
