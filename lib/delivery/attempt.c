#include "delivery/attempt.h"
#include "base/crypto.h"
#include "base/seal.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "delivery/retry.h"
#include "delivery/signature.h"
#include "store/seal_context.h"

enum {
    TOTAL_TIMEOUT_MS = 15000,
    HEADER_LIMIT = 32 * 1024,
    BODY_LIMIT = 16 * 1024,
    IDLE_SECONDS = 4, /* most servers keep an idle connection open for longer */
    MEMORY_LIMIT = 64 * 1024 * 1024,
};

bool attempt_init(struct attempt *attempt) {
    *attempt = (struct attempt){.http.curl = curl_easy_init()};
    arena_init(&attempt->arena, MEMORY_LIMIT, NULL);
    return attempt->http.curl != NULL;
}

void attempt_free(struct attempt *attempt) {
    http_finish(&attempt->http);
    curl_easy_cleanup(attempt->http.curl);
    arena_free(&attempt->arena);
    *attempt = (struct attempt){0};
}

const char *attempt_destination(struct arena *arena, const char *url) {
    CURLU *parts = curl_url();
    const char *host = "", *port = "";
    if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK) {
        host = http_url_part(arena, parts, CURLUPART_HOST);
        port = http_url_part(arena, parts, CURLUPART_PORT);
    }
    curl_url_cleanup(parts);
    return *host && *port ? arena_printf(arena, "%s:%s", host, port) : url;
}

/* --- callbacks during the transfer --- */

static int on_request(void *context, char *peer, char *own, int peer_port, int own_port) {
    struct attempt *attempt = context;
    (void)own, (void)peer_port, (void)own_port;
    return egress_guard_check(&attempt->guard, peer);
}

static size_t on_header(char *bytes, size_t size, size_t n, void *context) {
    struct answer *answer = &((struct attempt *)context)->answer;
    struct slice line = {bytes, size * n}, value;
    answer->header_bytes += line.n;
    if (answer->header_bytes > HEADER_LIMIT) {
        answer->has_large_headers = true;
        return 0;
    }
    if (slice_starts(line, SLICE("HTTP/"))) { /* drops the headers of an interim (1xx) answer */
        answer->wants_no_more = false;
        answer->retry_after[0] = '\0';
    }
    if (http_header_is(line, "webhook-delivery", &value))
        answer->wants_no_more = slice_equal(value, SLICE("abort-message"));
    else if (http_header_is(line, "Retry-After", &value) && value.n < sizeof answer->retry_after)
        snprintf(answer->retry_after, sizeof answer->retry_after, "%.*s", (int)value.n, value.p);
    return size * n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *context) {
    struct answer *answer = &((struct attempt *)context)->answer;
    size_t room = sizeof answer->head - answer->head_length;
    size_t kept = size * n < room ? size * n : room;
    memcpy(answer->head + answer->head_length, bytes, kept);
    answer->head_length += kept;
    answer->body_bytes += size * n;
    answer->is_cut = answer->body_bytes > BODY_LIMIT;
    return answer->is_cut ? 0 : size * n;
}

/* --- start --- */

/* Decrypts the codes that sign: the webhook's code, and the previous code while it is still valid.
 * Returns their number; 0 when the webhook's code cannot be decrypted with the key file. */
static size_t open_codes(struct attempt *attempt, const struct keyring *keys,
                         struct slice codes[2]) {
    const struct store_delivery *delivery = &attempt->delivery;
    const char *context = webhook_code_context(&attempt->arena, delivery->user_id);
    codes[0] = seal_open(keys, &attempt->arena, delivery->sealed_code, context);
    if (!codes[0].p || !delivery->sealed_previous_code.p)
        return codes[0].p ? 1 : 0;
    codes[1] = seal_open(keys, &attempt->arena, delivery->sealed_previous_code, context);
    if (!codes[1].p)
        log_message(LOG_WARN, "the previous webhook code of user %s cannot be decrypted",
                    delivery->user_id);
    return codes[1].p ? 2 : 1;
}

/* Adds the headers with the signatures. Returns false when the event cannot be signed. */
static bool sign(struct attempt *attempt, const struct keyring *keys) {
    struct arena *arena = &attempt->arena;
    const struct store_delivery *delivery = &attempt->delivery;
    struct http_client *http = &attempt->http;
    int64_t seconds = attempt->started_at / 1000;
    struct slice codes[2];
    size_t count = open_codes(attempt, keys, codes);
    if (!count) {
        snprintf(http->detail, sizeof http->detail,
                 "the webhook code cannot be decrypted with the present key file");
        return false;
    }
    http_add_header(http, arena_printf(arena, "webhook-id: %s", delivery->event_id));
    http_add_header(http, arena_printf(arena, "webhook-timestamp: %lld", (long long)seconds));
    if (!delivery->is_forward)
        http_add_header(http, arena_printf(arena, "webhook-signature: %s",
                                           event_signature_list(arena, delivery->event_id, seconds,
                                                                delivery->body, codes, count)));
    http_add_header(http, arena_printf(arena, "X-Hub-Signature-256: %s",
                                       event_signature_hub(arena, delivery->body, codes[0])));
    for (size_t i = 0; i < count; i++)
        crypto_wipe((void *)codes[i].p, codes[i].n);
    return true;
}

/* Returns CURLE_OK, or why the request cannot be made. */
static CURLcode set_request(struct attempt *attempt, const struct config *config,
                            const struct keyring *keys) {
    const struct store_delivery *delivery = &attempt->delivery;
    struct http_client *http = &attempt->http;
    http_set(http, CURLOPT_PRIVATE, attempt);
    http_set(http, CURLOPT_TIMEOUT_MS, (long)TOTAL_TIMEOUT_MS);
    egress_guard_start(&attempt->guard, config, http);
    http_set(http, CURLOPT_URL, delivery->url);
    http_set(http, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)delivery->body.n);
    http_set(http, CURLOPT_POSTFIELDS, delivery->body.p);
    http_add_header(http, "Content-Type: application/json");
    if (!sign(attempt, keys))
        http_latch(http, CURLE_FAILED_INIT);
    return http_ready(http);
}

/* Copies the delivery and everything that it points to into the attempt's arena. */
static struct store_delivery copy_delivery(struct arena *arena,
                                           const struct store_delivery *delivery) {
    struct store_delivery copy = *delivery;
    copy.event_id = arena_copy(arena, slice_of(delivery->event_id));
    copy.webhook_id = arena_copy(arena, slice_of(delivery->webhook_id));
    copy.user_id = arena_copy(arena, slice_of(delivery->user_id));
    copy.type = arena_copy(arena, slice_of(delivery->type));
    copy.url = arena_copy(arena, slice_of(delivery->url));
    copy.body.p = arena_copy(arena, delivery->body);
    copy.sealed_code.p = arena_copy(arena, delivery->sealed_code);
    if (delivery->sealed_previous_code.p)
        copy.sealed_previous_code.p = arena_copy(arena, delivery->sealed_previous_code);
    return copy;
}

bool attempt_start(struct attempt *attempt, CURLM *multi, const struct config *config,
                   const struct keyring *keys, const struct store_delivery *delivery) {
    static const struct http_use use = {IDLE_SECONDS, on_header, on_body, on_request};
    attempt->delivery = copy_delivery(&attempt->arena, delivery);
    attempt->destination = attempt_destination(&attempt->arena, attempt->delivery.url);
    attempt->started_at = clock_now();
    attempt->started = clock_monotonic();
    http_start(&attempt->http, config, &use, attempt);
    CURLcode code = set_request(attempt, config, keys);
    if (code == CURLE_OK && curl_multi_add_handle(multi, attempt->http.curl) == CURLM_OK)
        return true;
    attempt_end(attempt, multi, code ? code : CURLE_FAILED_INIT);
    return false;
}

/* --- end --- */

/* The reason of the failure, as text for the operator. */
static const char *explain(struct attempt *attempt, CURLcode code, int status) {
    struct arena *arena = &attempt->arena;
    const char *refusal = egress_guard_reason(&attempt->guard, arena);
    if (refusal)
        return refusal;
    if (attempt->answer.has_large_headers)
        return "the answer has more than 32 KB of headers";
    if (code == CURLE_OPERATION_TIMEDOUT)
        return attempt->guard.is_connected ? "timed out: no whole answer within 15 s"
                                           : "timed out: no connection within 5 s";
    if (code != CURLE_OK)
        return arena_copy(arena, slice_of(http_reason(&attempt->http, code)));
    if (status >= 300 && status < 400)
        return arena_printf(arena, "HTTP %d: redirects are not followed", status);
    if (attempt->answer.wants_no_more)
        return arena_printf(arena, "HTTP %d: the receiver wants no more attempts", status);
    return arena_printf(arena, "HTTP %d", status);
}

/* The verdict on the event after a failure. A failed probe does not count as an attempt: the event
 * only moves to the end of the queue, so that the next probe tries another event. */
static enum store_verdict judge(const struct attempt *attempt, int status, int64_t now,
                                int64_t *next_attempt_at) {
    struct retry_failure failure = {
        .attempts = attempt->delivery.attempts,
        .status = status,
        .timed_out = attempt->timed_out,
        .retry_after = *attempt->answer.retry_after ? attempt->answer.retry_after : NULL,
        .now = now,
    };
    uint32_t random;
    if (attempt->answer.wants_no_more)
        return VERDICT_DEAD;
    if (attempt->delivery.is_probe) {
        *next_attempt_at = now;
        return VERDICT_RETRY;
    }
    if (status == 410)
        return VERDICT_GONE;
    crypto_random(&random, sizeof random);
    return retry_schedule(&failure, random, next_attempt_at) ? VERDICT_RETRY : VERDICT_DEAD;
}

static const char *peer_address(struct attempt *attempt) {
    char *address = NULL;
    if (attempt->guard.is_connected &&
        curl_easy_getinfo(attempt->http.curl, CURLINFO_PRIMARY_IP, &address) == CURLE_OK &&
        *address)
        return arena_copy(&attempt->arena, slice_of(address));
    return *attempt->guard.refused ? attempt->guard.refused : NULL;
}

void attempt_end(struct attempt *attempt, CURLM *multi, CURLcode code) {
    long status = 0;
    if (code == CURLE_WRITE_ERROR && attempt->answer.is_cut)
        code = CURLE_OK; /* on_body stopped at BODY_LIMIT: the status decides */
    curl_easy_getinfo(attempt->http.curl, CURLINFO_RESPONSE_CODE, &status);
    attempt->timed_out = code == CURLE_OPERATION_TIMEDOUT;
    attempt->result = (struct store_attempt){
        .event_id = attempt->delivery.event_id,
        .webhook_id = attempt->delivery.webhook_id,
        .user_id = attempt->delivery.user_id,
        .is_probe = attempt->delivery.is_probe,
        .verdict = VERDICT_DELIVERED,
        .started_at = attempt->started_at,
        .duration_ms = clock_monotonic() - attempt->started,
        .status = (int)status,
        .address = peer_address(attempt),
        .response_head = {attempt->answer.head, attempt->answer.head_length},
    };
    if (code != CURLE_OK || status < 200 || status > 299) {
        attempt->result.error = explain(attempt, code, (int)status);
        attempt->result.verdict =
            judge(attempt, (int)status, clock_now(), &attempt->result.next_attempt_at);
    }
    attempt_drop(attempt, multi);
}

void attempt_drop(struct attempt *attempt, CURLM *multi) {
    curl_multi_remove_handle(multi, attempt->http.curl);
    http_finish(&attempt->http);
}

void attempt_clear(struct attempt *attempt) {
    struct arena arena = attempt->arena;
    CURL *curl = attempt->http.curl;
    arena_reset(&arena);
    *attempt = (struct attempt){.arena = arena, .http.curl = curl};
}
