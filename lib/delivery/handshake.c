#include "delivery/handshake.h"

#include <stdint.h>

#include "base/buffer.h"
#include "base/crypto.h"
#include "delivery/egress.h"

enum {
    TOTAL_TIMEOUT_MS = 10000,
    HEADER_LIMIT = 32 * 1024,
    BODY_LIMIT = 4096,
};

/* A verification in progress. */
struct handshake {
    struct http_client http;
    struct egress_guard guard;
    struct buffer body; /* of the answer */
    size_t header_bytes;
    bool has_large_headers, has_large_body;
};

static size_t on_header(char *bytes, size_t size, size_t n, void *context) {
    struct handshake *handshake = context;
    (void)bytes;
    handshake->header_bytes += size * n;
    handshake->has_large_headers = handshake->header_bytes > HEADER_LIMIT;
    return handshake->has_large_headers ? 0 : size * n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *context) {
    struct handshake *handshake = context;
    handshake->has_large_body = handshake->body.n + size * n > BODY_LIMIT;
    if (handshake->has_large_body)
        return 0;
    buffer_add(&handshake->body, bytes, size * n);
    return size * n;
}

static int on_request(void *context, char *peer, char *own, int peer_port, int own_port) {
    struct handshake *handshake = context;
    (void)own, (void)peer_port, (void)own_port;
    return egress_guard_check(&handshake->guard, peer);
}

/* The platform's challenges are numbers of ten digits that fit into 32 bits; some receivers read
 * them as such. */
static char *make_challenge(struct arena *arena) {
    uint32_t random;
    crypto_random(&random, sizeof random);
    return arena_printf(arena, "%u", 1000000000u + random % 1000000000u);
}

/* Returns the URL with the three parameters after those that it has. A fragment is not sent. NULL
 * when there is no memory. */
static const char *add_parameters(struct handshake *handshake, struct arena *arena, const char *url,
                                  struct slice token, const char *challenge) {
    struct slice rest = slice_of(url), address = slice_cut(&rest, '#');
    char *escaped = token.n ? curl_easy_escape(handshake->http.curl, token.p, (int)token.n) : NULL;
    if (token.n && !escaped)
        return NULL;
    const char *separator = !memchr(address.p, '?', address.n) ? "?"
                            : address.p[address.n - 1] == '?'  ? ""
                            : address.p[address.n - 1] == '&'  ? ""
                                                               : "&";
    const char *whole =
        arena_printf(arena, "%.*s%shub.mode=subscribe&hub.verify_token=%s&hub.challenge=%s",
                     (int)address.n, address.p, separator, escaped ? escaped : "", challenge);
    curl_free(escaped);
    return whole;
}

/* The reason why the answer does not confirm the URL; NULL when it does. */
static const char *judge(const struct handshake *handshake, struct arena *arena, long status,
                         const char *challenge) {
    if (status >= 300 && status < 400)
        return arena_printf(arena, "HTTP %ld was answered, and redirects are not followed", status);
    if (status != 200)
        return arena_printf(
            arena, "HTTP %ld was answered instead of 200: the verify token may be wrong", status);
    if (handshake->has_large_body)
        return "the body of the answer is longer than 4 KB; it must be the challenge";
    if (!slice_equal(buffer_slice(&handshake->body), slice_of(challenge)))
        return "the body of the answer is not the value of hub.challenge and nothing else";
    return NULL;
}

/* The reason why there is no answer to judge. */
static const char *explain(const struct handshake *handshake, struct arena *arena, CURLcode code) {
    const char *refusal = egress_guard_reason(&handshake->guard, arena);
    if (refusal)
        return refusal;
    if (handshake->has_large_headers)
        return "the answer has more than 32 KB of headers";
    if (code == CURLE_OPERATION_TIMEDOUT)
        return handshake->guard.is_connected ? "timed out: no whole answer within 10 s"
                                             : "timed out: no connection within 5 s";
    return arena_copy(arena, slice_of(http_reason(&handshake->http, code)));
}

/* Makes the request. Returns libcurl's result code. */
static CURLcode perform(struct handshake *handshake, const struct config *config, const char *url) {
    struct http_client *http = &handshake->http;
    http_set(http, CURLOPT_TIMEOUT_MS, (long)TOTAL_TIMEOUT_MS);
    http_set(http, CURLOPT_FORBID_REUSE, 1L);
    egress_guard_start(&handshake->guard, config, http);
    if (url)
        http_set(http, CURLOPT_URL, url);
    else
        http_latch(http, CURLE_OUT_OF_MEMORY);
    CURLcode code = http_ready(http);
    return code ? code : curl_easy_perform(http->curl);
}

const char *handshake_verify(struct arena *arena, const struct config *config, const char *url,
                             struct slice verify_token) {
    static const struct http_use use = {0, on_header, on_body, on_request};
    struct handshake handshake = {.http.curl = curl_easy_init(), .body = buffer_in(arena)};
    const char *challenge = make_challenge(arena), *reason;
    long status = 0;
    http_start(&handshake.http, config, &use, &handshake);
    CURLcode code = perform(&handshake, config,
                            add_parameters(&handshake, arena, url, verify_token, challenge));
    if (code == CURLE_WRITE_ERROR && handshake.has_large_body)
        code = CURLE_OK; /* on_body stopped: the status decides */
    curl_easy_getinfo(handshake.http.curl, CURLINFO_RESPONSE_CODE, &status);
    reason = code == CURLE_OK ? judge(&handshake, arena, status, challenge)
                              : explain(&handshake, arena, code);
    http_finish(&handshake.http);
    curl_easy_cleanup(handshake.http.curl);
    return reason;
}
