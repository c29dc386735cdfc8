#include "idempotency.h"

#include "base/clock.h"
#include "base/log.h"
#include "web/reply.h"

enum {
    LONGEST_KEY = 255,
    LONGEST_SILENCE_MS = 60 * 1000, /* no request that runs is silent for longer */
    SIGN_OF_LIFE_MS = 10 * 1000,
};

bool idempotency_is_asked(void) {
    return request_variable("HTTP_IDEMPOTENCY_KEY") != NULL;
}

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
        return fail(rq, INVALID, "Idempotency-Key must be 1 to 255 visible ASCII characters.");
    *key = arena_copy(rq->arena, value);
    return 0;
}

/* The key was started and has no answer: its request still runs, or ended badly in the middle. */
static int fail_unanswered(struct request *rq, const struct idempotency *idempotency) {
    int64_t silence = rq->now - idempotency->stored.started_at;
    /* below zero the clock has been set back since */
    if (silence < LONGEST_SILENCE_MS && silence > -LONGEST_SILENCE_MS) {
        reply_header(rq, "Retry-After", "1");
        fail(rq, CONFLICT, "The first request with this Idempotency-Key is still running.");
        return fail_with_details(rq, SLICE("{\"outcome\":\"running\"}"));
    }
    fail(rq, CONFLICT,
         "The first request with this Idempotency-Key ended without an answer: it may or may not "
         "have been carried out. Look before you use another key.");
    return fail_with_details(rq, SLICE("{\"outcome\":\"unknown\"}"));
}

enum idempotency_state idempotency_begin(struct request *rq, const unsigned char *fingerprint,
                                         struct idempotency *idempotency) {
    struct store_idempotency *stored = &idempotency->stored;
    *idempotency = (struct idempotency){
        .key = {.user_id = rq->caller->user.id,
                .route = arena_printf(rq->arena, "%s %s", rq->method, rq->path)},
        .alive_at = rq->started};
    if (read_key(rq, &idempotency->key.key))
        return IDEMPOTENCY_FAILED;
    if (!idempotency->key.key)
        return IDEMPOTENCY_NEW;
    id_make(stored->request_id, "req_", rq->now);
    if (fingerprint)
        memcpy(stored->fingerprint, fingerprint, CRYPTO_HASH_SIZE);
    enum store_result result =
        store_begin_idempotent(rq->caller->store, rq->arena, &idempotency->key, rq->now, stored);
    if (result != STORE_OK)
        return state_fail(rq, result), IDEMPOTENCY_FAILED;
    if (stored->is_new)
        return IDEMPOTENCY_NEW;
    if (stored->wamid && stored->status != 200)
        return IDEMPOTENCY_TOLD;
    return stored->status ? IDEMPOTENCY_ANSWERED
                          : (fail_unanswered(rq, idempotency), IDEMPOTENCY_FAILED);
}

int idempotency_check_body(struct request *rq, const struct idempotency *idempotency,
                           const unsigned char fingerprint[32]) {
    if (memcmp(idempotency->stored.fingerprint, fingerprint, CRYPTO_HASH_SIZE) != 0)
        return fail(rq, UNPROCESSABLE,
                    "This Idempotency-Key was used with another body; use a new key.");
    reply_header(rq, "Idempotent-Replayed", "true");
    return 0;
}

int idempotency_replay(struct request *rq, const struct idempotency *idempotency,
                       const unsigned char fingerprint[32]) {
    return idempotency_check_body(rq, idempotency, fingerprint)
               ? -1
               : reply_body(rq, idempotency->stored.status, REPLY_JSON, idempotency->stored.answer);
}

static void check_kept(struct request *rq, enum store_result result) {
    if (result != STORE_OK)
        log_message(LOG_ERROR, "request %s: the outcome of its Idempotency-Key was not kept: %s",
                    rq->id, store_reason(rq->caller->store));
}

/* Keeps the settled answer. A lack of memory may pass, so it is tried twice. */
static void keep_answer(struct request *rq, const struct idempotency *idempotency,
                        const unsigned char *fingerprint, int status) {
    struct store *store = rq->caller->store;
    struct slice answer = reply_bytes(rq);
    enum store_result result =
        store_finish_idempotent(store, &idempotency->key, fingerprint, status, answer);
    if (result == STORE_UNKNOWN)
        result = store_finish_idempotent(store, &idempotency->key, fingerprint, status, answer);
    check_kept(rq, result);
}

void idempotency_keep_alive(struct request *rq, struct idempotency *idempotency) {
    int64_t now = clock_monotonic();
    if (!idempotency->key.key || now - idempotency->alive_at < SIGN_OF_LIFE_MS)
        return;
    idempotency->alive_at = now;
    check_kept(rq, store_touch_idempotent(rq->caller->store, &idempotency->key, clock_now()));
}

void idempotency_end(struct request *rq, const struct idempotency *idempotency,
                     const unsigned char *fingerprint) {
    struct store *store = rq->caller->store;
    if (!idempotency->key.key || !idempotency->stored.is_new)
        return;
    if (!fingerprint || !rq->upstream_was_sent) {
        check_kept(rq, store_forget_idempotent(store, &idempotency->key));
        return;
    }
    keep_answer(rq, idempotency, fingerprint, reply_settle(rq));
}

int idempotency_resolve(struct request *rq, const struct idempotency *idempotency,
                        struct slice data) {
    reply_data(rq, data);
    keep_answer(rq, idempotency, idempotency->stored.fingerprint, 200);
    return 0;
}
