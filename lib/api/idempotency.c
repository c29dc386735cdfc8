#include "api/idempotency.h"

#include "base/clock.h"
#include "base/crypto.h"
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

void idempotency_fingerprint(const struct request *rq, unsigned char fingerprint[32]) {
    struct crypto_sha256 *hash = crypto_sha256_start(rq->arena);
    for (struct slice rest = json_raw(rq->json), token; (token = json_cut_token(&rest)).n;)
        crypto_sha256_add(hash, token);
    crypto_sha256_end(hash, fingerprint);
}

/* Keys of before schema version 2 have the hash of a JSON body's bytes as they came, which that of
 * the tokens can equal only where both are of the same body. */
static bool is_same_body(const struct request *rq, const struct store_idempotency *stored,
                         const unsigned char fingerprint[32]) {
    unsigned char of_bytes[CRYPTO_HASH_SIZE];
    if (memcmp(stored->fingerprint, fingerprint, CRYPTO_HASH_SIZE) == 0)
        return true;
    if (!json_is(rq->json))
        return false;
    crypto_sha256(rq->body, of_bytes);
    return memcmp(stored->fingerprint, of_bytes, CRYPTO_HASH_SIZE) == 0;
}

static int fail_on_another_body(struct request *rq) {
    return fail(rq, UNPROCESSABLE,
                "This Idempotency-Key was used with another body; use a new key.");
}

/* The key was started and has no answer: its request still runs, or ended badly in the middle. What
 * runs may have begun after this request, whose body may have taken long to arrive: only the
 * present time tells. */
static int fail_unanswered(struct request *rq, const struct idempotency *idempotency) {
    int64_t silence = clock_now() - idempotency->stored.started_at;
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

/* What became of a key that was known before. */
static enum idempotency_state find_state(struct request *rq, const struct idempotency *idempotency,
                                         const char *route, const unsigned char *fingerprint) {
    const struct store_idempotency *stored = &idempotency->stored;
    static const unsigned char unread[CRYPTO_HASH_SIZE];
    if (strcmp(stored->route, route) != 0) {
        fail(rq, UNPROCESSABLE,
             "This Idempotency-Key was used on another route, %.300s; use a new key.",
             stored->route);
        return IDEMPOTENCY_FAILED;
    }
    if (stored->wamid && stored->status != 200)
        return IDEMPOTENCY_TOLD;
    if (stored->status)
        return IDEMPOTENCY_ANSWERED;
    if (fingerprint && memcmp(stored->fingerprint, unread, CRYPTO_HASH_SIZE) != 0 &&
        !is_same_body(rq, stored, fingerprint))
        fail_on_another_body(rq);
    else
        fail_unanswered(rq, idempotency);
    return IDEMPOTENCY_FAILED;
}

enum idempotency_state idempotency_begin(struct request *rq, const unsigned char *fingerprint,
                                         struct idempotency *idempotency) {
    struct store_idempotency *stored = &idempotency->stored;
    const char *route = arena_printf(rq->arena, "%s %s", rq->method, rq->path);
    int64_t now = clock_now(); /* the body may have taken long to arrive */
    *idempotency = (struct idempotency){.key = {.user_id = rq->caller->user.id},
                                        .stored = {.route = route},
                                        .alive_at = clock_monotonic()};
    if (read_key(rq, &idempotency->key.key))
        return IDEMPOTENCY_FAILED;
    if (!idempotency->key.key)
        return IDEMPOTENCY_NEW;
    id_make(stored->request_id, "req_", now);
    if (fingerprint)
        memcpy(stored->fingerprint, fingerprint, CRYPTO_HASH_SIZE);
    enum store_result result =
        store_begin_idempotent(rq->caller->store, rq->arena, &idempotency->key, now, stored);
    if (result != STORE_OK)
        return state_fail(rq, result), IDEMPOTENCY_FAILED;
    return stored->is_new ? IDEMPOTENCY_NEW : find_state(rq, idempotency, route, fingerprint);
}

int idempotency_check_body(struct request *rq, const struct idempotency *idempotency,
                           const unsigned char fingerprint[32]) {
    if (!is_same_body(rq, &idempotency->stored, fingerprint))
        return fail_on_another_body(rq);
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
