#include "platform_call.h"

#include <strings.h>

#include "base/http_client.h"
#include "base/json.h"
#include "command.h"

/* --- calls --- */

void platform_ask(void *context, const struct graph_call *call, struct graph_answer *answer) {
    struct invocation *invocation = context;
    graph_call(&invocation->config, &invocation->arena, call, answer);
}

int platform_fail(struct invocation *call, const struct graph_answer *answer,
                  const char *expected) {
    struct json body = {0};
    struct json_error error;
    if (!answer->status)
        return fail("the platform could not be reached: %s", answer->failure);
    if (json_read(&call->arena, answer->body, &body, &error))
        return fail("the platform answered %d without JSON", answer->status);
    const char *message = json_text(json_find(body, "error.message"), &call->arena);
    if (message)
        return fail("the platform answered %d: %s", answer->status, message);
    return fail("the platform answered %d: no %s", answer->status, expected);
}

/* --- a connection without a call --- */

enum { SECONDS = 5 };

struct peer {
    const char *host, *port;
};

/* The peer of a URL that the configuration has accepted: `scheme://host[:port][/path]`, where an
 * IPv6 address is in brackets (RFC 3986 3.2). */
static struct peer read_url(struct arena *arena, const char *url) {
    struct slice rest = slice_of(strstr(url, "://") + 3);
    const char *usual_port = strncasecmp(url, "https:", 6) == 0 ? "443" : "80";
    struct slice port = slice_cut(&rest, '/');
    bool is_literal = slice_starts(port, SLICE("["));
    struct slice host = slice_cut(&port, is_literal ? ']' : ':');
    if (is_literal)
        host = slice_skip(host, 1), port = slice_skip(port, 1);
    return (struct peer){arena_copy(arena, host), port.n ? arena_copy(arena, port) : usual_port};
}

/* Returns NULL, or the reason why the last address of the host failed. */
static const char *try_connect(struct arena *arena, struct http_client *http, const char *url) {
    long error = 0;
    http_set(http, CURLOPT_URL, url);
    http_set(http, CURLOPT_CONNECT_ONLY, 1L);
    http_set(http, CURLOPT_TIMEOUT_MS, (long)SECONDS * 1000);
    CURLcode code = http_ready(http);
    if (code == CURLE_OK)
        code = curl_easy_perform(http->curl);
    if (code == CURLE_OK)
        return NULL;
    if (code == CURLE_OPERATION_TIMEDOUT)
        return arena_printf(arena, "no connection within %d s", SECONDS);
    curl_easy_getinfo(http->curl, CURLINFO_OS_ERRNO, &error);
    return arena_copy(arena,
                      slice_of(code == CURLE_COULDNT_CONNECT && error ? strerror((int)error)
                                                                      : http_reason(http, code)));
}

const char *platform_probe(struct arena *arena, const struct config *config,
                           const char **peer_name) {
    static const struct http_use use = {0};
    struct peer peer = read_url(arena, config->graph_base_url);
    const char *reason = "out of memory";
    *peer_name =
        arena_printf(arena, strchr(peer.host, ':') ? "[%s]:%s" : "%s:%s", peer.host, peer.port);
    struct http_client http = {.curl = http_prepare() ? curl_easy_init() : NULL};
    if (!http.curl)
        return reason;
    http_start(&http, config, &use, NULL);
    /* plain TCP: a handshake of TLS would be a use of the certificates */
    reason = try_connect(arena, &http, arena_printf(arena, "http://%s/", *peer_name));
    http_finish(&http);
    curl_easy_cleanup(http.curl);
    return reason;
}
