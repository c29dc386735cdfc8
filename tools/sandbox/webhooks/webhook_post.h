/* A POST of a webhook (or the GET of a verification) and its attempts, and the list of the last
 * ones with theirs (control call GET webhooks). */
#ifndef SANDBOX_WEBHOOK_POST_H
#define SANDBOX_WEBHOOK_POST_H

#include <stdint.h>

#include "base/buffer.h"

enum { ATTEMPTS_MAX = 32 };

struct attempt {
    long status; /* HTTP status; 0: no answer */
    int64_t milliseconds;
    const char *error;    /* static; NULL: there was an answer */
    struct buffer answer; /* its first bytes */
};

struct post {
    bool get;
    const char *url;
    struct slice body;
    const char *signature; /* value of X-Hub-Signature-256; NULL sends none */
    struct slice ids;      /* JSON: a list of the ids of the updates in it */
    struct attempt attempts[ATTEMPTS_MAX];
    size_t attempt_count;
    bool delivered;
    bool finished;
    int64_t due;               /* of the next attempt, monotonic */
    struct transfer *transfer; /* of webhook_transfer.c, while an attempt is in progress */
};

/* Returns `sha256=<hex>`, the HMAC-SHA256 of the body with the key `secret` (NULL: empty), in
 * `arena`. */
char *post_sign(struct arena *arena, const char *secret, struct slice body);

/* Appends a post and its attempts as JSON; with its body when `with_body`. */
void post_print(struct buffer *out, const struct post *post, bool with_body);

/* Appends `count` posts as {posts: [...]}. */
void posts_print(struct buffer *out, const struct post *posts, size_t count, bool with_body);

/* Adds finished posts to the list. `arena` takes temporary texts. */
void webhook_log(struct arena *arena, const struct post *posts, size_t count);

/* Appends the list as a JSON array, oldest first. */
void webhook_log_list(struct buffer *out);

/* Empties the list. */
void webhook_log_clear(void);

#endif
