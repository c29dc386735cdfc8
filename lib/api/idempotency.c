#include "api/idempotency.h"

#include "api/keep.h"
#include "api/state.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "store/seal_context.h"
#include "web/reply.h"

enum {
    LONGEST_KEY = 255,
    HEARTBEAT_TIMEOUT_MS = 60 * 1000, /* a request without a heartbeat for so long has ended */
    HEARTBEAT_MS = 10 * 1000,
};

bool idempotency_has_key(void) {
    return request_variable("HTTP_IDEMPOTENCY_KEY") != NULL;
}

/* Reads the header's value, with or without the quotes of the draft; NULL without the header.
 * Returns 0, or -1 after failing the request. */
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

/* Keys stored before schema version 2 have the hash of the raw bytes of a JSON body. Such a hash
 * and a hash of tokens are equal only for the same body, so both may be compared. */
static bool is_same_body(const struct request *rq, const struct idempotency *idempotency) {
    const unsigned char *const stored = idempotency->stored.fingerprint;
    unsigned char of_bytes[CRYPTO_HASH_SIZE];
    if (memcmp(stored, idempotency->fingerprint, CRYPTO_HASH_SIZE) == 0)
        return true;
    if (!json_is(rq->json))
        return false;
    crypto_sha256(rq->body, of_bytes);
    return memcmp(stored, of_bytes, CRYPTO_HASH_SIZE) == 0;
}

static int fail_on_another_body(struct request *rq) {
    return fail(rq, UNPROCESSABLE,
                "This Idempotency-Key was used with another body; use a new key.");
}

/* Whether the first request still runs. The present time decides, not rq->now: the body of this
 * request may have arrived slowly, so the first request may have begun after this one. */
static bool is_running(const struct idempotency *idempotency) {
    int64_t silence = clock_now() - idempotency->stored.started_at;
    /* negative: the clock was set back */
    return silence < HEARTBEAT_TIMEOUT_MS && silence > -HEARTBEAT_TIMEOUT_MS;
}

/* Fails for a key without a reply: its first request still runs, or was interrupted. */
static int fail_without_reply(struct request *rq, const struct idempotency *idempotency) {
    if (is_running(idempotency)) {
        reply_header(rq, "Retry-After", "1");
        return fail_with_details(rq, CONFLICT, SLICE("{\"outcome\":\"running\"}"),
                                 "The first request with this Idempotency-Key is still running.");
    }
    return fail_with_details(
        rq, CONFLICT, SLICE("{\"outcome\":\"unknown\"}"),
        "The first request with this Idempotency-Key ended without an answer: it may or may not "
        "have been carried out. Look before you use another key.");
}

/* The state of a key that was stored before. */
static enum idempotency_state find_state(struct request *rq, const struct idempotency *idempotency,
                                         const char *route) {
    const struct store_idempotency *stored = &idempotency->stored;
    static const unsigned char unread[CRYPTO_HASH_SIZE];
    if (strcmp(stored->route, route) != 0) {
        fail(rq, UNPROCESSABLE,
             "This Idempotency-Key was used on another route, %.300s; use a new key.",
             stored->route);
        return IDEMPOTENCY_FAILED;
    }
    if (stored->wamid && stored->status != 200)
        return IDEMPOTENCY_ACCEPTED;
    if (stored->status)
        return IDEMPOTENCY_REPLIED;
    if (memcmp(idempotency->fingerprint, unread, CRYPTO_HASH_SIZE) != 0 &&
        memcmp(stored->fingerprint, unread, CRYPTO_HASH_SIZE) != 0 &&
        !is_same_body(rq, idempotency))
        fail_on_another_body(rq);
    else if (idempotency->may_continue && !is_running(idempotency))
        return IDEMPOTENCY_NEW;
    else
        fail_without_reply(rq, idempotency);
    return IDEMPOTENCY_FAILED;
}

/* `mode` is a part of the route: "", or that of queued sends. */
static enum idempotency_state begin(struct request *rq, struct idempotency *idempotency,
                                    bool may_continue, const char *mode) {
    struct store_idempotency *stored = &idempotency->stored;
    const char *route = arena_printf(rq->arena, "%s %s%s", rq->method, rq->path, mode);
    int64_t now = clock_now(); /* the body may have arrived slowly */
    idempotency->key.user_id = rq->caller->user.id;
    idempotency->heartbeat_at = clock_monotonic();
    idempotency->may_continue = may_continue;
    stored->route = route;
    if (read_key(rq, &idempotency->key.key))
        return IDEMPOTENCY_FAILED;
    if (!idempotency->key.key)
        return IDEMPOTENCY_NEW;
    id_make(stored->request_id, "req_", now);
    memcpy(stored->fingerprint, idempotency->fingerprint, CRYPTO_HASH_SIZE);
    enum store_result result =
        store_insert_idempotency_key(rq->caller->store, rq->arena, &idempotency->key, now, stored);
    if (result != STORE_OK)
        return state_fail(rq, result), IDEMPOTENCY_FAILED;
    return stored->is_new ? IDEMPOTENCY_NEW : find_state(rq, idempotency, route);
}

enum idempotency_state idempotency_begin(struct request *rq, struct idempotency *idempotency) {
    return begin(rq, idempotency, false, "");
}

int idempotency_check_body(struct request *rq, const struct idempotency *idempotency) {
    if (!is_same_body(rq, idempotency))
        return fail_on_another_body(rq);
    reply_header(rq, "Idempotent-Replayed", "true");
    return 0;
}

int idempotency_replay(struct request *rq, const struct idempotency *idempotency) {
    if (idempotency_check_body(rq, idempotency))
        return -1;
    if (idempotency->stored.status == 401)
        reply_challenge(rq);
    rq->has_trail = true; /* by the first request */
    return reply_body(rq, idempotency->stored.status, REPLY_JSON, idempotency->stored.answer);
}

/* Logs a failure to store the state of the key. */
static void log_failure(struct request *rq, enum store_result result) {
    if (result != STORE_OK)
        log_message(LOG_ERROR, "request %s: the outcome of its Idempotency-Key was not stored: %s",
                    rq->id, store_reason(rq->caller->store));
}

void idempotency_describe(struct request *rq, const struct idempotency *idempotency,
                          struct kept_record *record) {
    record->key = idempotency->key;
    memcpy(record->request_id, idempotency->stored.request_id, ID_SIZE);
    memcpy(record->fingerprint, idempotency->stored.fingerprint, CRYPTO_HASH_SIZE);
    record->status = reply_settle(rq);
    record->answer = reply_bytes(rq);
}

/* Stores the final reply. Tries twice, because a lack of memory may be temporary. A reply that the
 * database does not take is kept. */
int idempotency_resolve(struct request *rq, const struct idempotency *idempotency) {
    const struct store_idempotency_key *key = &idempotency->key;
    struct store *store = rq->caller->store;
    struct kept_record record = {.key = {0}};
    enum store_result result = STORE_UNKNOWN;
    if (idempotency->is_kept)
        return 0;
    idempotency_describe(rq, idempotency, &record);
    for (int tries = 0; tries < 2 && result == STORE_UNKNOWN; tries++)
        result = store_update_idempotency_key(store, key, record.request_id, record.fingerprint,
                                              (int)record.status, record.answer);
    if (result != STORE_OK)
        keep_record(rq, &record, "the outcome of its Idempotency-Key was not stored",
                    store_reason(store));
    return 0;
}

void idempotency_keep_alive(struct request *rq, struct idempotency *idempotency) {
    int64_t now = clock_monotonic();
    if (!idempotency->key.key || now - idempotency->heartbeat_at < HEARTBEAT_MS)
        return;
    idempotency->heartbeat_at = now;
    log_failure(rq,
                store_update_idempotency_heartbeat(rq->caller->store, &idempotency->key,
                                                   idempotency->stored.request_id, clock_now()));
}

void idempotency_end(struct request *rq, struct idempotency *idempotency, bool is_whole) {
    struct store *store = rq->caller->store;
    if (!idempotency->key.key || !idempotency->stored.is_new)
        return;
    if (!is_whole || !rq->upstream_was_sent) {
        log_failure(rq, store_delete_idempotency_key(store, &idempotency->key,
                                                     idempotency->stored.request_id));
        return;
    }
    memcpy(idempotency->stored.fingerprint, idempotency->fingerprint, CRYPTO_HASH_SIZE);
    idempotency_resolve(rq, idempotency);
}

/* --- answers that hold a secret --- */

/* An answer to be sealed. */
struct secret_answer {
    struct request *rq;
    struct slice text, sealed;
};

static struct slice seal_answer(void *context) {
    struct secret_answer *answer = context;
    struct request *rq = answer->rq;
    return state_seal(rq, answer->text, idempotency_answer_context(rq->arena, rq->caller->user.id),
                      &answer->sealed);
}

/* Reads the answer again: of this request's key, which is stored. */
static int read_answer_again(struct request *rq, struct state_sealed *value) {
    const struct idempotency *once = value->object;
    struct store_idempotency again = once->stored;
    enum store_result result =
        store_insert_idempotency_key(rq->caller->store, rq->arena, &once->key, clock_now(), &again);
    value->sealed = again.answer;
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

static int replay_sealed(struct request *rq, struct idempotency *once) {
    struct state_sealed value = {
        .sealed = once->stored.answer,
        .context = idempotency_answer_context(rq->arena, rq->caller->user.id),
        .read_again = read_answer_again,
        .object = once,
    };
    if (idempotency_check_body(rq, once))
        return -1;
    const struct slice answer = state_open_sealed(rq, &value);
    rq->has_trail = true; /* by the first request */
    if (answer.n)
        return reply_body(rq, once->stored.status, REPLY_JSON, answer);
    if (rq->failure.code)
        return -1;
    return fail(rq, INTERNAL,
                "The answer to the first request with this Idempotency-Key cannot be decrypted: "
                "the key file of the gateway lacks its key.");
}

/* Answers from the effect of the first request, which succeeded unless its answer was replaced by
 * an erasure. */
static int replay_again(struct request *rq, const struct idempotency *once) {
    if (once->stored.status != 200)
        return idempotency_replay(rq, once);
    if (idempotency_check_body(rq, once))
        return -1;
    rq->has_trail = true; /* by the first request */
    return once->again(rq, once->stored.request_id, NULL);
}

/* Ends a request whose effect is in the database and that did not succeed. The key of one that was
 * refused is deleted. After any other failure the effect may be stored: the key stays, and the next
 * request continues. */
static void end_failed(struct request *rq, const struct idempotency *once, int status) {
    struct store *store = rq->caller->store;
    const char *request_id = once->stored.request_id;
    if (status < 500)
        log_failure(rq, store_delete_idempotency_key(store, &once->key, request_id));
    else
        log_failure(rq, store_update_idempotency_heartbeat(store, &once->key, request_id,
                                                           clock_now() - HEARTBEAT_TIMEOUT_MS));
}

/* Stores the success of a request: with its answer, sealed unless the request was queued; without
 * it if the effect answers. */
static enum store_result store_success(struct request *rq, const struct idempotency *once,
                                       int status) {
    struct store *store = rq->caller->store;
    struct secret_answer answer = {.rq = rq, .text = reply_bytes(rq)};
    if (status == 200 && !once->again)
        return store_seal_idempotency_key(store, &once->key, once->stored.request_id,
                                          &(struct store_secret){seal_answer, &answer});
    return store_update_idempotency_key(store, &once->key, once->stored.request_id,
                                        once->stored.fingerprint, status,
                                        once->again ? SLICE("{}") : answer.text);
}

/* Carries out the first request of the key, or one that continues it. */
static int act_once(struct request *rq, const struct idempotency *once, idempotency_act *act,
                    const void *subject) {
    const char *request_id = once->stored.request_id;
    if (!once->stored.is_new) /* others with the key wait for this one */
        log_failure(rq, store_update_idempotency_heartbeat(rq->caller->store, &once->key,
                                                           request_id, clock_now()));
    const int failed = act(rq, request_id, subject);
    const int status = reply_settle(rq);
    if (status == 200 || status == 202)
        log_failure(rq, store_success(rq, once, status));
    else
        end_failed(rq, once, status);
    return failed;
}

static int run(struct request *rq, idempotency_act *act, idempotency_act *again,
               const void *subject, bool is_queued) {
    struct idempotency once = {.again = again};
    char request_id[ID_SIZE];
    if (!idempotency_has_key()) {
        id_make(request_id, "req_", rq->now);
        return act(rq, request_id, subject);
    }
    idempotency_fingerprint(rq, once.fingerprint);
    switch (begin(rq, &once, true, is_queued ? " (respond-async)" : "")) {
    case IDEMPOTENCY_NEW: return act_once(rq, &once, act, subject);
    case IDEMPOTENCY_REPLIED:
        return is_queued ? idempotency_replay(rq, &once)
               : again   ? replay_again(rq, &once)
                         : replay_sealed(rq, &once);
    case IDEMPOTENCY_ACCEPTED: /* of sends that are not queued */
    case IDEMPOTENCY_FAILED: break;
    }
    return -1;
}

int idempotency_run(struct request *rq, idempotency_act *act, idempotency_act *again) {
    return run(rq, act, again, NULL, false);
}

int idempotency_queue(struct request *rq, idempotency_act *act, const void *subject) {
    return run(rq, act, NULL, subject, true);
}

const char *idempotency_id(struct request *rq, const char *prefix, const char *request_id) {
    return arena_printf(rq->arena, "%s%s", prefix, request_id + strlen("req_"));
}
