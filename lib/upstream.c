#include "upstream.h"

#include "base/utf8.h"
#include "state.h"

enum { CLIPPED = 1024 }; /* bytes kept of an answer that is not JSON */

/* Nothing was sent, so nothing was done: the same request may be sent again. */
#define UNREACHED_SECONDS "5"

static enum failure_code broken(enum upstream_purpose purpose) {
    return purpose == UPSTREAM_LIST ? INTERNAL : BAD_GATEWAY;
}

static enum failure_code failure_code(enum upstream_purpose purpose, int status) {
    switch (status) {
    case 401:
        return UNAUTHORIZED;
    case 403:
        return FORBIDDEN;
    case 404:
        return NOT_FOUND;
    default:
        return status >= 400 && status < 500 ? INVALID : broken(purpose);
    }
}

void upstream_prepare(struct request *rq) {
    (void)rq;
    graph_prepare();
}

/* The answer as `details`: its own bytes when it is JSON, else its beginning as a string. */
static struct slice details(struct request *rq, struct slice body, struct json *json) {
    struct json_error error;
    if (!body.n)
        return body;
    if (json_read(rq->arena, body, json, &error) == 0)
        return json_raw(*json);
    size_t n = 0, length;
    while (n < body.n && n < CLIPPED && (length = utf8_length(body.p + n, body.n - n)))
        n += length;
    if (!n) /* no text: whatever it is */
        n = body.n < CLIPPED ? body.n : CLIPPED;
    struct json_writer w;
    json_write_start(&w, rq->arena);
    json_write_string(&w, NULL, (struct slice){body.p, n});
    return json_written(&w);
}

/* Of what was sent nobody knows whether it arrived, however its answer was lost. */
static int fail_without_answer(struct request *rq, enum upstream_purpose purpose,
                               const struct graph_answer *answer) {
    if (answer->was_sent && purpose != UPSTREAM_LIST)
        return fail(rq, broken(purpose),
                    "The platform did not answer: %s; whether it did what was asked is not known.",
                    answer->failure);
    if (!answer->was_sent)
        reply_header(rq, "Retry-After", UNREACHED_SECONDS);
    return fail(rq, broken(purpose), "The platform could not be reached: %s.", answer->failure);
}

int upstream_fail(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_answer *answer) {
    struct json json = {0};
    if (!answer->status)
        return fail_without_answer(rq, purpose, answer);
    if (answer->retry_after)
        reply_header(rq, "Retry-After", answer->retry_after);
    struct slice payload = details(rq, answer->body, &json);
    const char *said = json_text(json_find(json, "error.message"), rq->arena);
    if (said)
        fail_verbatim(rq, failure_code(purpose, answer->status), said);
    else
        fail(rq, failure_code(purpose, answer->status), "The platform answered %d.",
             answer->status);
    return fail_with_details(rq, payload);
}

/* A 200 that is not what it should be: nobody knows what the platform did. */
static int fail_on_nonsense(struct request *rq, enum upstream_purpose purpose,
                            const struct graph_answer *answer) {
    struct json json;
    fail(rq, broken(purpose),
         "The platform's answer is not JSON; whether it did what was asked is not known.");
    return fail_with_details(rq, details(rq, answer->body, &json));
}

void upstream_note(struct request *rq, const struct graph_answer *answer) {
    rq->upstream_calls++;
    rq->upstream_was_sent = rq->upstream_was_sent || answer->was_sent;
    rq->upstream_ms += answer->ms;
    rq->upstream_status = answer->status;
}

void upstream_ask(struct request *rq, const struct graph_call *call, struct graph_answer *answer) {
    state_end_view(rq);
    graph_call(rq->config, rq->arena, call, answer);
    upstream_note(rq, answer);
}

int upstream_read(struct request *rq, enum upstream_purpose purpose,
                  const struct graph_answer *answer, struct json *json) {
    struct json_error error;
    if (answer->status < 200 || answer->status > 299)
        return upstream_fail(rq, purpose, answer);
    if (json_read(rq->arena, answer->body, json, &error))
        return fail_on_nonsense(rq, purpose, answer);
    return 0;
}

int upstream_call(struct request *rq, enum upstream_purpose purpose, const struct graph_call *call,
                  struct json *json) {
    struct graph_answer answer;
    upstream_ask(rq, call, &answer);
    return upstream_read(rq, purpose, &answer, json);
}
