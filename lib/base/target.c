#include "base/target.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

size_t target_scheme(const char *target) {
    size_t n = strspn(target, LETTERS DIGITS "+-.");
    return strspn(target, LETTERS) && strncmp(target + n, "://", 3) == 0 ? n : 0;
}

const char *target_file(const char *target) {
    return target[0] == '/' ? target : NULL;
}

static int digit_of(char c) {
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Decodes %XX in `text`. */
static bool decode(struct slice text, char *value, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < text.n && n + 1 < size; i++, n++) {
        value[n] = text.p[i];
        if (text.p[i] != '%')
            continue;
        const int high = i + 2 < text.n ? digit_of(text.p[i + 1]) : -1;
        const int low = high >= 0 ? digit_of(text.p[i + 2]) : -1;
        if (low < 0)
            return false;
        value[n] = (char)(high * 16 + low);
        i += 2;
    }
    value[n] = '\0';
    return n + 1 < size;
}

bool target_parameter(const char *target, const char *name, char *value, size_t size) {
    const char *query = strrchr(target, '?');
    struct slice rest = slice_of(query ? query + 1 : "");
    *value = '\0';
    while (rest.n) {
        struct slice text = slice_cut(&rest, '&');
        const struct slice key = slice_cut(&text, '=');
        if (!slice_equal(key, slice_of(name)))
            continue;
        if (decode(text, value, size))
            return true;
        *value = '\0';
    }
    return false;
}

bool target_has_socket(const char *target) {
    char given[1024];
    const char *hosts = target + target_scheme(target) + strlen("://");
    const char *at = strrchr(hosts, '@');
    struct slice rest = slice_of(at ? at + 1 : hosts);
    rest.n = strcspn(rest.p, "/?#");
    if (target_parameter(target, "host", given, sizeof given))
        rest = slice_of(given);
    bool has_socket = !rest.n;
    while (rest.n) {
        const struct slice host = slice_cut(&rest, ',');
        has_socket |= !host.n || host.p[0] == '/' || host.p[0] == '%';
    }
    return has_socket;
}

bool target_has_password(const char *target) {
    char value[1024];
    const size_t scheme = target_scheme(target);
    if (!scheme)
        return false;
    const char *user = target + scheme + strlen("://");
    const char *at = memrchr(user, '@', strcspn(user, "?"));
    return (at && memchr(user, ':', (size_t)(at - user))) ||
           target_parameter(target, "password", value, sizeof value) ||
           target_parameter(target, "sslpassword", value, sizeof value);
}

/* Whether the `n` bytes at `text` are characters of `set`. */
static bool consists_of(const char *text, size_t n, const char *set) {
    return strspn(text, set) >= n;
}

/* Whether the `n` bytes at `hosts` are a list of hosts, each with a numeric port or without one. */
static bool are_hosts(const char *hosts, size_t n) {
    const char *end = hosts + n;
    while (hosts < end) {
        bool is_bracketed = *hosts == '[';
        hosts += strspn(hosts, is_bracketed ? LETTERS DIGITS "[.:%" : LETTERS DIGITS "-_.%");
        if (is_bracketed && *hosts++ != ']')
            return false;
        if (*hosts == ':')
            hosts += 1 + strspn(hosts + 1, DIGITS);
        if (hosts < end && *hosts++ != ',')
            return false;
    }
    return true;
}

/* In a password, `/`, `?` and `#` must be escaped. If one is not, it seems to end the hosts, and
 * the @ that ends the password comes after it. */
const char *target_name(struct arena *arena, const char *target) {
    size_t scheme = target_scheme(target);
    if (!scheme)
        return target_file(target) ? target : "...";
    const char *hosts = target + scheme + strlen("://"), *at = strrchr(hosts, '@');
    const char *end = hosts + strcspn(hosts, "/?#"), *name = *end == '/' ? end + 1 : end;
    bool is_clear = !at || at < end;
    if (at && is_clear)
        hosts = at + 1;
    if (!is_clear || !are_hosts(hosts, (size_t)(end - hosts)))
        return arena_printf(arena, "%.*s://...", (int)scheme, target);
    size_t length = name > end ? strcspn(name, "?#") : 0;
    bool is_plain = consists_of(name, length, LETTERS DIGITS "-_.");
    return arena_printf(arena, "%.*s%.*s%s%.*s", (int)(scheme + strlen("://")), target,
                        (int)(end - hosts), hosts, name > end ? "/" : "",
                        (int)(is_plain ? length : 3), is_plain ? name : "...");
}
