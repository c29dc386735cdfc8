#include "nodes/callback_handshake.h"

#include <sodium.h>

#include "state/sandbox.h"
#include "webhooks/webhook_job.h"
#include "webhooks/webhook_verify.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

enum { URL_MAX = 200, TOKEN_MAX = 1000 }; /* characters */

struct handshake {
    struct callback callback;
    const char *challenge;
};

static bool is_answered(const struct post *post, const char *challenge) {
    const struct attempt *attempt = &post->attempts[0];
    return post->delivered && slice_equal(buffer_slice(&attempt->answer), slice_of(challenge));
}

static void answer_failed(struct exchange *exchange, const struct attempt *attempt) {
    const char *reason =
        attempt->error ? attempt->error
        : attempt->status == 200
            ? "The answer is not the challenge"
            : arena_printf(exchange->arena, "HTTP Status Code = %ld", attempt->status);
    reply_error(exchange, 2200,
                "(#2200) Callback verification failed with the following errors: %s", reason);
}

/* Answers when the verification has ended. The headers of the answer are made already, and kept. */
static void handshake_finish(struct exchange *exchange, const struct post *post, void *cls) {
    const struct handshake *handshake = cls;
    struct buffer headers = exchange->reply.headers;
    if (!is_answered(post, handshake->challenge)) {
        answer_failed(exchange, &post->attempts[0]);
        buffer_add_slice(&exchange->reply.headers, buffer_slice(&headers));
        return;
    }
    state_write();
    handshake->callback.store(&handshake->callback);
    state_done();
    reply_success(exchange);
}

static void job_prepare(struct exchange *exchange, struct handshake *handshake) {
    struct job *job = job_new();
    struct verification options = {.url = handshake->callback.url,
                                   .verify_token = handshake->callback.verify_token,
                                   .challenge = handshake->challenge};
    verification_fill(job, &options);
    job->exchange = exchange;
    job->finish = handshake_finish;
    job->cls = handshake;
    exchange->job = job;
}

void handshake_prepare(struct exchange *exchange, const struct callback *callback) {
    struct handshake *handshake = arena_alloc(exchange->arena, sizeof *handshake);
    const char *url = callback->url;
    *handshake =
        (struct handshake){*callback, arena_printf(exchange->arena, "%u", randombytes_random())};
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        reply_error(exchange, 100, "(#100) Param override_callback_uri must be a valid URI.");
    else if (strlen(url) > URL_MAX)
        reply_error(exchange, 100,
                    "(#100) Param override_callback_uri must be at most %d characters long.",
                    URL_MAX);
    else if (!callback->verify_token || *callback->verify_token == '\0')
        reply_error(exchange, 100, "(#100) The parameter verify_token is required.");
    else if (strlen(callback->verify_token) > TOKEN_MAX)
        reply_error(exchange, 100, "(#100) Param verify_token must be at most %d characters long.",
                    TOKEN_MAX);
    else
        job_prepare(exchange, handshake);
}

bool handshake_start(struct exchange *exchange) {
    struct job *job = exchange->job;
    exchange->job = NULL;
    if (job_start(job))
        return true;
    job_free(job);
    reply_error_as(exchange, 2, 0, NULL, NULL);
    return false;
}

void handshake_drop(struct exchange *exchange) {
    if (exchange->job)
        job_free(exchange->job);
    exchange->job = NULL;
}
