/* /platform/webhook: the platform's webhook (spec 6). GET verifies the URL. POST takes a payload:
 * it must be signed, and is answered 200 only when all its updates are stored. After any other
 * answer the platform sends the payload again. One whose events have very many deliveries is stored
 * in parts. A payload that is too large to be processed is
 * stored unread as a refusal, for the operator, since sending it again would not help. */
#include "api/state.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/crypto.h"
#include "base/log.h"
#include "delivery/wake.h"
#include "payload/event_body.h"
#include "payload/forward_body.h"
#include "payload/updates.h"
#include "store/refusal.h"

enum {
    PAYLOAD_LIMIT = 4 * 1024 * 1024,
    MOST_UPDATES = 10000, /* the platform sends at most 1,000 in one payload */
    MOST_WORK = 40000000, /* for store_limit_work; MOST_UPDATES new contacts take 24000000 */
    MOST_MS = 40 * 1000,  /* for store_limit_time; the web server ends a request after 60 s */
    MOST_WITH_REFUSAL_MS = 50 * 1000,
    SKIPPED_LINES_LOGGED = 5,
    /* for a payload whose events have too many deliveries for one transaction */
    MOST_DELIVERIES = 10000, /* of one event for each update, in one transaction */
    PART_DELIVERIES = 5000,  /* the same, for a part */
    PARTS_MS = 12 * 1000,    /* for all parts of one request */
    PART_MEMORY = 64 * 1024 * 1024,
};

/* --- GET: verification of the URL --- */

static int get_webhook(struct request *rq) {
    struct slice mode = query_get(&rq->query, "hub.mode");
    struct slice token = query_get(&rq->query, "hub.verify_token");
    struct slice challenge = query_get(&rq->query, "hub.challenge");
    struct slice expected = slice_of(rq->config->verify_token);
    if (!slice_equal(mode, SLICE("subscribe")) || !expected.n || !crypto_equal(token, expected))
        return fail(rq, FORBIDDEN,
                    "hub.mode must be subscribe and hub.verify_token the configured one.");
    return reply_body(rq, 200, "text/plain; charset=utf-8", challenge);
}

static const struct field verify_query[] = {
    {.name = "hub.mode", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "hub.verify_token", .type = FIELD_STRING, .may_be_empty = true},
    {.name = "hub.challenge", .type = FIELD_STRING, .may_be_empty = true},
    {0},
};

/* --- POST: a payload --- */

/* Reads X-Hub-Signature-256; false when it is missing or has another form. */
static bool read_signature(unsigned char given[CRYPTO_HASH_SIZE]) {
    struct slice header = slice_trim(slice_of(request_variable("HTTP_X_HUB_SIGNATURE_256")));
    return slice_starts(header, SLICE("sha256=")) &&
           crypto_unhex(slice_skip(header, 7), given, CRYPTO_HASH_SIZE);
}

/* Whether X-Hub-Signature-256 is the HMAC-SHA256 of the raw body under the app secret. */
static bool is_signed(struct request *rq) {
    unsigned char given[CRYPTO_HASH_SIZE], expected[CRYPTO_HASH_SIZE];
    if (!read_signature(given))
        return false;
    crypto_hmac_sha256(slice_of(rq->config->app_secret), rq->body, expected);
    return crypto_equal((struct slice){(char *)given, sizeof given},
                        (struct slice){(char *)expected, sizeof expected});
}

/* Fails with 503, so that the platform sends the payload again. */
static int fail_later(struct request *rq, const char *seconds, const char *message) {
    reply_header(rq, "Retry-After", seconds);
    return fail(rq, UNAVAILABLE, "%s", message);
}

static int fail_unsigned(struct request *rq) {
    return fail(rq, UNAUTHORIZED,
                "X-Hub-Signature-256 must be the HMAC-SHA256 of the body under the app secret.");
}

/* Checks what can be checked of the signature before the body is read. */
static int check_signature_header(struct request *rq) {
    unsigned char given[CRYPTO_HASH_SIZE];
    if (!*rq->config->app_secret) {
        log_message(LOG_ERROR, "request %s: app_secret is not configured: no webhook is accepted",
                    rq->id);
        return fail_later(rq, "60", "The gateway has no app secret to check signatures with.");
    }
    return read_signature(given) ? 0 : fail_unsigned(rq);
}

static const struct guard signature_guard = {.before_body = check_signature_header,
                                             .requires = REQUIRES_SIGNATURE};

/* Fails for a payload that could not be stored. */
static int fail_ingest(struct request *rq, struct store *store, enum store_result result) {
    log_message(LOG_ERROR, "request %s: the payload was not stored: %s", rq->id,
                store_reason(store));
    return fail_later(rq,
                      result == STORE_BUSY    ? "1"
                      : store_is_moved(store) ? STATE_MOVED_RETRY_AFTER
                                              : "60",
                      "The gateway cannot store this now; send it again.");
}

static void log_outcomes(struct request *rq, const struct store_payload *payload) {
    static const char *const names[] = {"stored", "duplicate", "not_ours", "nobody", "refused"};
    static const char *const labels[] = {"stored", "duplicate", "not_ours", "no_contact",
                                         "refused"};
    int64_t counts[sizeof names / sizeof *names] = {0};
    size_t logged = 0;
    for (size_t i = 0; i < payload->count; i++) {
        const struct store_update *update = &payload->updates[i];
        counts[update->outcome]++;
        if (update->outcome == OUTCOME_NO_OWNER && logged++ < SKIPPED_LINES_LOGGED)
            log_message(LOG_WARN, "request %s: skipped `%s` for WABA %.32s, line %.32s: not ours",
                        rq->id, update->field, update->waba_id ? update->waba_id : "none",
                        update->phone_number_id ? update->phone_number_id : "none");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (counts[i]) {
            json_write_integer(&rq->log, names[i], counts[i]);
            counters_add(COUNTERS_INBOUND_UPDATES, labels[i], (uint64_t)counts[i]);
        }
    json_write_integer(&rq->log, "events", (int64_t)payload->events);
}

static int reply_received(struct request *rq) {
    return reply_data(rq, SLICE("{\"received\":true}"));
}

/* Stores the payload unread, as a refusal. `began`: when it had been received; `updates`: how many
 * it holds; -1: not known. */
static int keep_refused(struct request *rq, struct store *store, int64_t began, int64_t updates,
                        const char *reason) {
    char id[ID_SIZE];
    id_make(id, "ref_", rq->now);
    const int64_t left = began + MOST_WITH_REFUSAL_MS - clock_monotonic();
    store_limit_time(store, left > 1 ? left : 1);
    enum store_result result = store_upsert_refusal(store, id, reason, updates, rq->body, rq->now);
    store_limit_time(store, 0);
    if (result != STORE_OK)
        return fail_ingest(rq, store, result);
    log_message(LOG_WARN,
                "request %s: a payload of %zu bytes was stored and not processed: %s; "
                "see `switchboard refusal list`",
                rq->id, rq->body.n, reason);
    json_write_text(&rq->log, "payload_refused", reason);
    counters_add(COUNTERS_INBOUND_REFUSALS, "", 1);
    return reply_received(rq);
}

/* Stores a payload in parts, a transaction each, whose events have too many deliveries for one. The
 * platform sends a payload again after any other answer than 200, and a stored update changes
 * nothing then: so a request that ends between two parts is continued by the next one. Sets
 * *is_whole. */
static enum store_result ingest_parts(struct request *rq, struct store *store,
                                      struct store_payload *payload, bool *is_whole) {
    const int64_t end = clock_monotonic() + PARTS_MS;
    const size_t size =
        payload->webhooks < PART_DELIVERIES ? PART_DELIVERIES / payload->webhooks : 1;
    size_t from = 0;
    enum store_result result = STORE_OK;
    struct arena arena;
    arena_init(&arena, PART_MEMORY, NULL);
    payload->events = 0;
    while (from < payload->count && clock_monotonic() < end) {
        const size_t left = payload->count - from;
        struct store_payload part = *payload;
        part.updates += from;
        part.count = left < size ? left : size;
        part.post = from ? NULL : payload->post;
        result = store_ingest(store, &arena, &part);
        arena_reset(&arena);
        if (result != STORE_OK)
            break;
        from += part.count;
        payload->events += part.events;
    }
    arena_free(&arena);
    *is_whole = from == payload->count;
    if (payload->events)
        wake_notify(rq->config);
    return result;
}

static int fail_partly(struct request *rq) {
    log_message(LOG_WARN,
                "request %s: a part of the payload was stored; the rest follows when the "
                "platform sends it again",
                rq->id);
    return fail_later(rq, "1", "A part of this is stored; send it again to store the rest.");
}

static int ingest(struct request *rq, struct json payload, int64_t began) {
    struct forward_post raw = {rq->body, payload};
    const struct store_post post = forward_body_post(&raw, rq->arena);
    struct store_payload found = {.now = rq->now,
                                  .write = event_body,
                                  .post = &post,
                                  .archives_media = *rq->config->media_archive != 0};
    const size_t count = updates_read(rq->arena, payload, rq->now, MOST_UPDATES, &found.updates);
    if (!count && !post.place_count)
        return reply_received(rq);
    struct store *store = state_store(rq, UNAVAILABLE); /* so that the platform sends it again */
    if (!store)
        return -1;
    if (count > MOST_UPDATES)
        return keep_refused(rq, store, began, (int64_t)count, "it holds more than 10000 updates");
    found.count = count;
    found.most_deliveries = MOST_DELIVERIES;
    store_limit_work(store, MOST_WORK);
    store_limit_time(store, MOST_MS);
    bool is_whole = true;
    enum store_result result = store_ingest(store, rq->arena, &found);
    if (result == STORE_EXCESSIVE && count > 1 && found.webhooks > MOST_DELIVERIES / count)
        result = ingest_parts(rq, store, &found, &is_whole);
    store_limit_work(store, 0);
    store_limit_time(store, 0);
    if (result == STORE_EXCESSIVE)
        return keep_refused(rq, store, began, (int64_t)count,
                            "its updates change too much at once");
    if (result != STORE_OK)
        return fail_ingest(rq, store, result);
    if (!is_whole)
        return fail_partly(rq);
    log_outcomes(rq, &found);
    if (found.events)
        wake_notify(rq->config);
    return reply_received(rq);
}

/* Refuses a payload that exceeds a limit of the JSON reader. It may be valid JSON. */
static int refuse_unread(struct request *rq, int64_t began, const char *reason) {
    struct store *store = state_store(rq, UNAVAILABLE); /* so that the platform sends it again */
    return store ? keep_refused(rq, store, began, -1, reason) : -1;
}

static int post_webhook(struct request *rq) {
    struct json payload;
    struct json_error error;
    const int64_t began = clock_monotonic();
    if (!is_signed(rq))
        return fail_unsigned(rq);
    bool is_read = json_read(rq->arena, rq->body, &payload, &error) == 0;
    if (!is_read && error.is_limit)
        return refuse_unread(rq, began, error.reason);
    if (!is_read)
        return fail(rq, INVALID, "The body is not valid JSON: %s, at line %zu, column %zu.",
                    error.reason, error.line, error.column);
    return ingest(rq, payload, began);
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/platform/webhook",
     .handle = get_webhook, .query = verify_query},
    {.method = "POST", .path = "/platform/webhook",
     .trail = NO_TRAIL("the platform reports, no caller acts"),
     .guard = &signature_guard, .handle = post_webhook, .body = BODY_RAW,
     .body_limit = PAYLOAD_LIMIT},
    {0},
};
/* clang-format on */

const struct service this_service = {
    .name = "platform", .routes = routes, .needs = WRITES_DATABASE | NOTIFIES_COURIER};
