#include "delivery/attempt.h"
#include "base/crypto.h"
#include "base/seal.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/product.h"
#include "delivery/retry.h"
#include "delivery/signature.h"
#include "store/seal_context.h"

enum {
    CONNECT_TIMEOUT_MS = 5000,
    TOTAL_TIMEOUT_MS = 15000,
    HEADER_LIMIT = 32 * 1024,
    BODY_LIMIT = 16 * 1024,
    IDLE_SECONDS = 4, /* most servers keep an idle connection open for longer */
    MEMORY_LIMIT = 64 * 1024 * 1024,
};

bool attempt_init(struct attempt *attempt) {
    *attempt = (struct attempt){.curl = curl_easy_init()};
    arena_init(&attempt->arena, MEMORY_LIMIT, NULL);
    return attempt->curl != NULL;
}

void attempt_free(struct attempt *attempt) {
    curl_slist_free_all(attempt->headers);
    curl_easy_cleanup(attempt->curl);
    arena_free(&attempt->arena);
    *attempt = (struct attempt){0};
}

const char *attempt_destination(struct arena *arena, const char *url) {
    CURLU *parts = curl_url();
    char *host = NULL, *port = NULL;
    const char *destination = url;
    if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK) {
        for (char *c = host; *c; c++)
            if (*c >= 'A' && *c <= 'Z')
                *c = (char)(*c - 'A' + 'a');
        destination = arena_printf(arena, "%s:%s", host, port);
    }
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parts);
    return destination;
}

/* --- callbacks during the transfer --- */

/* libcurl calls this for every connection, with the address that the URL's host resolved to. */
static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address) {
    struct attempt *attempt = context;
    (void)purpose;
    if (egress_allows(attempt->egress, &address->addr))
        return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (getnameinfo(&address->addr, address->addrlen, attempt->refused_address,
                    sizeof attempt->refused_address, NULL, 0, NI_NUMERICHOST) != 0)
        snprintf(attempt->refused_address, sizeof attempt->refused_address, "unknown");
    return CURL_SOCKET_BAD;
}

/* libcurl calls this before it sends the request. The address is checked again, because a reused
 * connection may be older than the present configuration. */
static int on_request(void *context, char *peer, char *own, int peer_port, int own_port) {
    struct attempt *attempt = context;
    (void)own, (void)peer_port, (void)own_port;
    attempt->is_connected = egress_allows_text(attempt->egress, peer);
    if (attempt->is_connected)
        return CURL_PREREQFUNC_OK;
    snprintf(attempt->refused_address, sizeof attempt->refused_address, "%s", peer);
    return CURL_PREREQFUNC_ABORT;
}

static bool is_header(struct slice name, const char *wanted) {
    return name.n == strlen(wanted) && strncasecmp(name.p, wanted, name.n) == 0;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *context) {
    struct answer *answer = &((struct attempt *)context)->answer;
    struct slice value = {bytes, size * n};
    answer->header_bytes += value.n;
    if (answer->header_bytes > HEADER_LIMIT) {
        answer->has_large_headers = true;
        return 0;
    }
    if (slice_starts(value, SLICE("HTTP/"))) { /* drops the headers of an interim (1xx) answer */
        answer->wants_no_more = false;
        answer->retry_after[0] = '\0';
    }
    while (value.n && (value.p[value.n - 1] == '\r' || value.p[value.n - 1] == '\n'))
        value.n--;
    struct slice name = slice_cut(&value, ':');
    value = slice_trim(value);
    if (is_header(name, "webhook-delivery"))
        answer->wants_no_more = slice_equal(value, SLICE("abort-message"));
    else if (is_header(name, "Retry-After") && value.n < sizeof answer->retry_after)
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

/* Sets an option of libcurl. If an option cannot be set the attempt fails, because the option may
 * be one that security depends on. */
#define set(attempt, option, value)                                                                \
    latch_option(attempt, curl_easy_setopt((attempt)->curl, option, value))

static void latch_option(struct attempt *attempt, CURLcode code) {
    if (!attempt->unset)
        attempt->unset = code;
}

static void set_safety(struct attempt *attempt, const struct config *config) {
    set(attempt, CURLOPT_NOSIGNAL, 1L);
    set(attempt, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a name server that hangs */
    set(attempt, CURLOPT_PROTOCOLS_STR, "http,https");
    set(attempt, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    set(attempt, CURLOPT_FOLLOWLOCATION, 0L);
    set(attempt, CURLOPT_PROXY, "");
    set(attempt, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    set(attempt, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    set(attempt, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    set(attempt, CURLOPT_SSL_VERIFYPEER, 1L);
    set(attempt, CURLOPT_SSL_VERIFYHOST, 2L);
    set(attempt, CURLOPT_CAPATH, *config->ca_path ? config->ca_path : NULL);
    set(attempt, CURLOPT_CAINFO, *config->ca_file ? config->ca_file : NULL);
    set(attempt, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    set(attempt, CURLOPT_TIMEOUT_MS, (long)TOTAL_TIMEOUT_MS);
    set(attempt, CURLOPT_MAXAGE_CONN, (long)IDLE_SECONDS);
}

static void set_callbacks(struct attempt *attempt) {
    set(attempt, CURLOPT_PRIVATE, attempt);
    set(attempt, CURLOPT_ERRORBUFFER, attempt->detail);
    set(attempt, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    set(attempt, CURLOPT_OPENSOCKETDATA, attempt);
    set(attempt, CURLOPT_PREREQFUNCTION, on_request);
    set(attempt, CURLOPT_PREREQDATA, attempt);
    set(attempt, CURLOPT_HEADERFUNCTION, on_header);
    set(attempt, CURLOPT_HEADERDATA, attempt);
    set(attempt, CURLOPT_WRITEFUNCTION, on_body);
    set(attempt, CURLOPT_WRITEDATA, attempt);
}

static bool add_header(struct attempt *attempt, const char *line) {
    struct curl_slist *longer = curl_slist_append(attempt->headers, line);
    if (longer)
        attempt->headers = longer;
    return longer != NULL;
}

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
    int64_t seconds = attempt->started_at / 1000;
    struct slice codes[2];
    size_t count = open_codes(attempt, keys, codes);
    if (!count) {
        snprintf(attempt->detail, sizeof attempt->detail,
                 "the webhook code cannot be decrypted with the present key file");
        return false;
    }
    bool signed_whole =
        add_header(attempt, arena_printf(arena, "webhook-id: %s", delivery->event_id)) &&
        add_header(attempt, arena_printf(arena, "webhook-timestamp: %lld", (long long)seconds)) &&
        add_header(attempt, arena_printf(arena, "webhook-signature: %s",
                                         event_signature_list(arena, delivery->event_id, seconds,
                                                              delivery->body, codes, count))) &&
        add_header(attempt, arena_printf(arena, "X-Hub-Signature-256: %s",
                                         event_signature_hub(arena, delivery->body, codes[0])));
    for (size_t i = 0; i < count; i++)
        crypto_wipe((void *)codes[i].p, codes[i].n);
    return signed_whole;
}

static bool set_request(struct attempt *attempt, const struct keyring *keys) {
    const struct store_delivery *delivery = &attempt->delivery;
    set(attempt, CURLOPT_USERAGENT, SWITCHBOARD_NAME "/" SWITCHBOARD_VERSION);
    set(attempt, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)delivery->body.n);
    set(attempt, CURLOPT_POSTFIELDS, delivery->body.p);
    bool is_set = add_header(attempt, "Content-Type: application/json") &&
                  add_header(attempt, "Expect:") && sign(attempt, keys);
    set(attempt, CURLOPT_URL, delivery->url);
    set(attempt, CURLOPT_HTTPHEADER, attempt->headers);
    return is_set && !attempt->unset;
}

/* Copies the delivery and everything that it points to into the attempt's arena. */
static struct store_delivery copy_delivery(struct arena *arena,
                                           const struct store_delivery *delivery) {
    struct store_delivery copy = *delivery;
    copy.event_id = arena_copy(arena, slice_of(delivery->event_id));
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
    attempt->delivery = copy_delivery(&attempt->arena, delivery);
    attempt->destination = attempt_destination(&attempt->arena, attempt->delivery.url);
    attempt->egress = egress_read(config->webhook_egress);
    attempt->started_at = clock_now();
    attempt->started = clock_monotonic();
    curl_easy_reset(attempt->curl);
    set_safety(attempt, config);
    set_callbacks(attempt);
    if (set_request(attempt, keys) && curl_multi_add_handle(multi, attempt->curl) == CURLM_OK)
        return true;
    attempt_end(attempt, multi, attempt->unset ? attempt->unset : CURLE_FAILED_INIT);
    return false;
}

/* --- end --- */

/* The reason of the failure, as text for the operator. */
static const char *explain(struct attempt *attempt, CURLcode code, int status) {
    struct arena *arena = &attempt->arena;
    if (*attempt->refused_address && !attempt->is_connected)
        return arena_printf(arena, "blocked_address: %s is not allowed with webhook_egress = %s",
                            attempt->refused_address,
                            attempt->egress == EGRESS_PUBLIC ? "public" : "private");
    if (attempt->answer.has_large_headers)
        return "the answer has more than 32 KB of headers";
    if (code == CURLE_OPERATION_TIMEDOUT)
        return attempt->is_connected ? "timed out: no whole answer within 15 s"
                                     : "timed out: no connection within 5 s";
    if (code != CURLE_OK)
        return arena_copy(arena,
                          slice_of(*attempt->detail ? attempt->detail : curl_easy_strerror(code)));
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
    if (attempt->is_connected &&
        curl_easy_getinfo(attempt->curl, CURLINFO_PRIMARY_IP, &address) == CURLE_OK && *address)
        return arena_copy(&attempt->arena, slice_of(address));
    return *attempt->refused_address ? attempt->refused_address : NULL;
}

void attempt_end(struct attempt *attempt, CURLM *multi, CURLcode code) {
    long status = 0;
    if (code == CURLE_WRITE_ERROR && attempt->answer.is_cut)
        code = CURLE_OK; /* on_body stopped at BODY_LIMIT: the status decides */
    curl_easy_getinfo(attempt->curl, CURLINFO_RESPONSE_CODE, &status);
    attempt->timed_out = code == CURLE_OPERATION_TIMEDOUT;
    attempt->result = (struct store_attempt){
        .event_id = attempt->delivery.event_id,
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
    curl_multi_remove_handle(multi, attempt->curl);
    curl_easy_setopt(attempt->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(attempt->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(attempt->headers);
    attempt->headers = NULL;
}

void attempt_clear(struct attempt *attempt) {
    struct arena arena = attempt->arena;
    CURL *curl = attempt->curl;
    arena_reset(&arena);
    *attempt = (struct attempt){.arena = arena, .curl = curl};
}
