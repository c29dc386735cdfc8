#include "webhooks/webhook_job.h"

#include <pthread.h>

#include "text/memory.h"
#include "webhooks/webhook_post.h"

enum { JOBS_MAX = 64 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    size_t count;
} jobs = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};

struct job *job_new(void) {
    struct arena *arena = memory_open();
    struct job *job = arena_alloc(arena, sizeof *job);
    job->arena = arena;
    return job;
}

void job_free(struct job *job) {
    memory_close(job->arena);
}

static void *job_run(void *cls) {
    struct job *job = cls;
    posts_send(job->arena, job->posts, job->count, &job->rules);
    webhook_log(job->arena, job->posts, job->count);
    if (job->exchange) {
        if (job->finish)
            job->finish(job->exchange, job->posts, job->cls);
        else
            posts_print(&job->exchange->reply.body, job->posts, job->count, false);
        MHD_resume_connection(job->exchange->connection);
    }
    job_free(job);
    pthread_mutex_lock(&jobs.lock);
    jobs.count--;
    pthread_cond_broadcast(&jobs.idle);
    pthread_mutex_unlock(&jobs.lock);
    return NULL;
}

static void exchange_wait(struct exchange *exchange) {
    exchange->stage = STAGE_WAITING;
    MHD_suspend_connection(exchange->connection);
}

/* Called under the lock of the jobs. The connection is suspended first: the thread resumes it. */
static bool start_thread(struct job *job) {
    struct exchange *exchange = job->exchange;
    pthread_t thread;
    if (exchange)
        exchange_wait(exchange);
    if (pthread_create(&thread, NULL, job_run, job) == 0) {
        pthread_detach(thread);
        return true;
    }
    if (exchange)
        MHD_resume_connection(exchange->connection);
    return false;
}

bool job_start(struct job *job) {
    pthread_mutex_lock(&jobs.lock);
    bool started = !posts_stopped() && jobs.count < JOBS_MAX && start_thread(job);
    jobs.count += started;
    pthread_mutex_unlock(&jobs.lock);
    return started;
}

void jobs_stop(void) {
    pthread_mutex_lock(&jobs.lock);
    while (jobs.count > 0)
        pthread_cond_wait(&jobs.idle, &jobs.lock);
    pthread_mutex_unlock(&jobs.lock);
}
