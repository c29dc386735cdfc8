/* The delivery of posts by libcurl, with retries, several at a time when the rules say so. */
#ifndef SANDBOX_WEBHOOK_TRANSFER_H
#define SANDBOX_WEBHOOK_TRANSFER_H

#include "webhooks/webhook_post.h"

struct send_rules {
    size_t parallel;    /* POSTs in flight */
    int64_t retries;    /* after the first attempt, while the answer is not 200 */
    int64_t retry_ms;   /* until the first retry; doubled after each attempt */
    int64_t timeout_ms; /* of an attempt */
};

/* Returns the rules of the settings. Called under the lock of the state. */
struct send_rules send_rules_default(void);

/* Sends the posts in order and waits until each was delivered or given up, or posts_stop was
 * called. What is allocated for them lies in `arena`, which no other thread uses meanwhile. */
void posts_send(struct arena *arena, struct post *posts, size_t count,
                const struct send_rules *rules);

/* Ends all sending, now and later: the sandbox ends. */
void posts_stop(void);

/* Whether posts_stop was called. */
bool posts_stopped(void);

#endif
