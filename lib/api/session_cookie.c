#include "api/session_cookie.h"

#include "base/token.h"
#include "web/reply.h"

/* Returns the value of the cookie; p == NULL if there is none, or more than one, of which a browser
 * sends only one. */
static struct slice find_cookie(const char *wanted) {
    struct slice rest = slice_of(request_variable("HTTP_COOKIE")), found = {NULL, 0};
    while (rest.n) {
        struct slice value = slice_trim(slice_cut(&rest, ';'));
        struct slice name = slice_cut(&value, '=');
        if (!slice_equal(name, slice_of(wanted)))
            continue;
        if (found.p)
            return (struct slice){NULL, 0};
        found = value;
    }
    return found.n ? found : (struct slice){NULL, 0};
}

static bool has_value(const char *variable, const char *value) {
    const char *given = request_variable(variable);
    return given && strcmp(given, value) == 0;
}

/* Whether the request is to a page's own origin: `origin` is that of public_url, or without one
 * that which the request names. A browser writes an origin in lower case and without a default
 * port, and so it writes Host. */
static bool is_own_origin(const struct request *rq, const char *origin) {
    const char *public_url = rq->config->public_url;
    const char *scheme = request_variable("REQUEST_SCHEME"), *host = request_variable("HTTP_HOST");
    if (*public_url) {
        const char *authority = strstr(public_url, "://");
        size_t n = authority ? (size_t)(authority + 3 - public_url) : 0;
        n += strcspn(public_url + n, "/");
        return slice_equal(slice_of(origin), (struct slice){public_url, n});
    }
    return scheme && host && strcmp(origin, arena_printf(rq->arena, "%s://%s", scheme, host)) == 0;
}

/* Returns the value of a cookie that counts in requests of the gateway's own page alone. */
static struct slice own_cookie(const struct request *rq, const char *name) {
    const struct slice none = {NULL, 0};
    const char *site = request_variable("HTTP_SEC_FETCH_SITE");
    const char *origin = request_variable("HTTP_ORIGIN");
    if (!has_value("HTTP_X_SWITCHBOARD", "1"))
        return none;
    if (site ? strcmp(site, "same-origin") != 0 : !origin || !is_own_origin(rq, origin))
        return none;
    return find_cookie(name);
}

struct slice session_cookie(const struct request *rq) {
    return own_cookie(rq, SESSION_COOKIE);
}

struct slice pending_cookie(const struct request *rq) {
    return own_cookie(rq, PENDING_COOKIE);
}

struct slice device_cookie(void) {
    return find_cookie(DEVICE_COOKIE);
}

bool session_is_of_other(const char *member_id) {
    const char *shown = request_variable("HTTP_X_SWITCHBOARD_MEMBER");
    return shown && strcmp(shown, member_id) != 0;
}

const char *session_workspace(void) {
    return request_variable("HTTP_X_SWITCHBOARD_WORKSPACE");
}

bool session_is_foreign(const struct request *rq) {
    const char *site = request_variable("HTTP_SEC_FETCH_SITE");
    const char *origin = request_variable("HTTP_ORIGIN");
    if (site)
        return strcmp(site, "same-origin") != 0;
    return origin && !is_own_origin(rq, origin);
}

/* --- new sessions --- */

enum {
    VALUE_LENGTH = 64,   /* of a cookie, hexadecimal digits */
    AGENT_LONGEST = 200, /* bytes of the User-Agent that the list shows */
};

#define COOKIE_RULES "; Path=/; Secure; HttpOnly; SameSite=Strict"

void session_set_cookie(struct request *rq, const char *value) {
    reply_header(rq, "Set-Cookie",
                 arena_printf(rq->arena, SESSION_COOKIE "=%s" COOKIE_RULES, value));
}

void session_set_device_cookie(struct request *rq, const char *value) {
    reply_header(rq, "Set-Cookie",
                 arena_printf(rq->arena, DEVICE_COOKIE "=%s" COOKIE_RULES "; Max-Age=%lld", value,
                              (long long)(DEVICE_MS / 1000)));
}

void session_clear_cookie(struct request *rq) {
    reply_header(rq, "Set-Cookie", SESSION_COOKIE "=" COOKIE_RULES "; Max-Age=0");
}

void session_set_pending_cookie(struct request *rq, const char *value) {
    reply_header(rq, "Set-Cookie",
                 arena_printf(rq->arena, PENDING_COOKIE "=%s" COOKIE_RULES "; Max-Age=%d", value,
                              PENDING_MS / 1000));
}

void session_clear_pending_cookie(struct request *rq) {
    reply_header(rq, "Set-Cookie", PENDING_COOKIE "=" COOKIE_RULES "; Max-Age=0");
}

struct store_new_session session_make(struct request *rq, const char *member_id,
                                      const char **value) {
    struct slice agent = slice_of(request_variable("HTTP_USER_AGENT"));
    char *id = arena_alloc(rq->arena, ID_SIZE);
    struct token token;
    id_make(id, "ses_", rq->now);
    struct store_new_session session = {.id = id,
                                        .member_id = member_id,
                                        .address = request_client(rq),
                                        .agent = "",
                                        .now = rq->now};
    if (agent.n)
        session.agent = arena_copy(
            rq->arena, (struct slice){agent.p, agent.n < AGENT_LONGEST ? agent.n : AGENT_LONGEST});
    token_make(&token, "");
    *value = arena_copy(rq->arena, slice_of(token.text));
    memcpy(session.hash, token.hash, sizeof session.hash);
    return session;
}

/* The value of the browser's cookie, or a new one. */
static const char *browser_value(struct request *rq) {
    const struct slice known = device_cookie();
    const char *value = known.p ? arena_copy(rq->arena, known) : "";
    struct token token;
    if (known.n == VALUE_LENGTH && strspn(value, "0123456789abcdef") == known.n)
        return value;
    token_make(&token, "");
    return arena_copy(rq->arena, slice_of(token.text));
}

const char *session_join_browser(struct request *rq, struct store_new_session *session) {
    const char *value = browser_value(rq);
    const struct slice present = session_cookie(rq);
    unsigned char *hashes = arena_alloc(rq->arena, (size_t)2 * CRYPTO_HASH_SIZE);
    crypto_sha256(slice_of(value), hashes);
    session->device = hashes;
    if (present.p) {
        crypto_sha256(present, hashes + CRYPTO_HASH_SIZE);
        session->replaced = hashes + CRYPTO_HASH_SIZE;
    }
    return value;
}
