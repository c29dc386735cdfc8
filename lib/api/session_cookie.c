#include "api/session_cookie.h"

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
