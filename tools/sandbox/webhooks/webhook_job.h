/* Jobs: the posts of one control call, sent by a thread of their own. */
#ifndef SANDBOX_WEBHOOK_JOB_H
#define SANDBOX_WEBHOOK_JOB_H

#include "webhooks/webhook_transfer.h"
#include "wire/exchange.h"

struct job {
    struct arena *arena;       /* of the job and all that it points to */
    struct exchange *exchange; /* waits for the posts; NULL: the call was answered already */
    struct post *posts;
    size_t count;
    struct send_rules rules;
    /* Makes the answer of the exchange when all posts are sent; NULL: it is the posts. */
    void (*finish)(struct exchange *exchange, const struct post *posts, void *cls);
    void *cls;
};

/* Returns an empty job in an arena of its own. */
struct job *job_new(void);

/* Frees a job that was not started. */
void job_free(struct job *job);

/* Starts the thread of the job, which frees it. The connection of a waiting exchange is suspended
 * until all posts are sent and then answered with them. Returns false when too many jobs run; then
 * the job is the caller's. */
bool job_start(struct job *job);

/* Waits until all jobs have ended, after posts_stop. */
void jobs_stop(void);

#endif
