#include "idempotency.h"

#include "base/log.h"
#include "web/reply.h"

enum { LONGEST_KEY = 255, LONGEST_RUN_MS = 60 * 1000 }; /* no request runs longer */

/* The header's value: a token, or a quoted string as the draft has it; NULL without the header. */
static int read_key(struct request *rq, const char **key) {
    struct slice value = slice_trim(slice_of(request_variable("HTTP_IDEMPOTENCY_KEY")));
    *key = NULL;
    if (!value.p)
        return 0;
    if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
        value = (struct slice){value.p + 1, value.n - 2};
    bool is_printable = true;
    for (size_t i = 0; i < value.n; i++)
        is_printable = is_printable && value.p[i] > 0x20 && value.p[i] < 0x7f;
    if (!value.n || value.n > LONGEST_KEY || !is_printable)
        return fail(rq, INVALID,
                    "Idempotency-Key must be 1 to 255 visible ASCII characters.");
    *key = arena_copy(rq->arena, value);
    return 0;
}

/* The key was started and has no answer: its request still runs, or ended badly in the middle. */
static int fail_unanswered(struct request *rq, const struct idempotency *idempotency) {
    if (rq->now - idempotency->stored.started_at < LONGEST_RUN_MS) {
        reply_header(rq, "Retry-After", "1");
        fail(rq, CONFLICT, "The first request with this Idempotency-Key is still running.");
        return fail_with_details(rq, SLICE("{\"outcome\":\"running\"}"));
    }
    fail(rq, CONFLICT,
         "The first request with this Idempotency-Key ended without an answer: it may or may not "
         "have been carried out. Look before you use another key.");
    return fail_with_details(rq, SLICE("{\"outcome\":\"unknown\"}"));
}

int idempotency_begin(struct request *rq, const unsigned char *fingerprint,
                      struct idempotency *idempotency) {
    *idempotency = (struct idempotency){
        .key = {.user_id = rq->caller->user.id,
                .route = arena_printf(rq->arena, "%s %s", rq->method, rq->path)}};
    if (read_key(rq, &idempotency->key.key))
        return -1;
    if (!idempotency->key.key)
        return 0;
    id_make(idempotency->stored.request_id, "req_", rq->now);
    if (fingerprint)
        memcpy(idempotency->stored.fingerprint, fingerprint, CRYPTO_HASH_SIZE);
    enum store_result result =
        store_begin_idempotent(rq->caller->store, rq->arena, &idempotency->key, rq->now,
                               &idempotency->stored);
    if (result != STORE_OK)
        return state_fail(rq, result);
    if (idempotency->stored.is_new)
        return 0;
    return idempotency->stored.status ? 1 : fail_unanswered(rq, idempotency);
}

int idempotency_replay(struct request *rq, const struct idempotency *idempotency,
                       const unsigned char fingerprint[32]) {
    if (memcmp(idempotency->stored.fingerprint, fingerprint, CRYPTO_HASH_SIZE) != 0)
        return fail(rq, UNPROCESSABLE,
                    "This Idempotency-Key was used with another body; use a new key.");
    reply_header(rq, "Idempotent-Replayed", "true");
    return reply_body(rq, idempotency->stored.status, REPLY_JSON, idempotency->stored.answer);
}

void idempotency_end(struct request *rq, const struct idempotency *idempotency,
                     const unsigned char fingerprint[32]) {
    struct store *store = rq->caller->store;
    if (!idempotency->key.key || !idempotency->stored.is_new)
        return;
    int status = reply_settle(rq); /* before its bytes are taken */
    enum store_result result =
        rq->upstream_was_sent ? store_finish_idempotent(store, &idempotency->key, fingerprint,
                                                        status, reply_bytes(rq))
                              : store_forget_idempotent(store, &idempotency->key);
    if (result != STORE_OK)
        log_message(LOG_ERROR, "request %s: the outcome of its Idempotency-Key was not kept: %s",
                    rq->id, store_reason(store));
}
