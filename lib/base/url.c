#include "base/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>

enum { LONGEST_HOST = 253 };

static bool is_port(struct slice text) {
    long port = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (!isdigit((unsigned char)text.p[i]) || i > 4)
            return false;
        port = port * 10 + (text.p[i] - '0');
    }
    return text.n == 0 || (port >= 1 && port <= 65535);
}

/* Takes "[" IPv6 "]" off the front of *rest. Returns NULL, or the problem. */
static const char *check_literal(struct slice *rest) {
    if (!memchr(rest->p, ']', rest->n))
        return "must close the [ of its IPv6 address";
    struct slice address = slice_skip(slice_cut(rest, ']'), 1);
    char text[INET6_ADDRSTRLEN] = "";
    struct in6_addr parsed;
    if (address.n < sizeof text)
        memcpy(text, address.p, address.n);
    if (inet_pton(AF_INET6, text, &parsed) != 1 || (rest->n && rest->p[0] != ':'))
        return "must hold an IPv6 address in its brackets";
    return NULL;
}

static const char *check_name(struct slice *rest) {
    size_t n = 0;
    while (n < rest->n && rest->p[n] != ':')
        n++;
    if (n == 0)
        return "must name a host";
    if (n > LONGEST_HOST)
        return "must name a host of at most 253 characters";
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)rest->p[i]) && !strchr("-._", rest->p[i]))
            return "must name a host of letters, digits, dots and hyphens";
    *rest = slice_skip(*rest, n);
    return NULL;
}

static const char *check_authority(struct slice authority) {
    if (memchr(authority.p, '@', authority.n))
        return "must not hold a user name or password";
    const char *wrong =
        authority.n && authority.p[0] == '[' ? check_literal(&authority) : check_name(&authority);
    if (wrong)
        return wrong;
    return is_port(slice_skip(authority, 1)) ? NULL : "must have a port from 1 to 65535";
}

static const char *check_characters(struct slice text) {
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c <= 0x20 || c >= 0x7f || strchr("\"<>\\^`{|}", c))
            return "must percent-encode spaces and characters outside of ASCII";
        if (c == '%' && (text.n - i < 3 || !isxdigit((unsigned char)text.p[i + 1]) ||
                         !isxdigit((unsigned char)text.p[i + 2])))
            return "has a % that two hexadecimal digits do not follow";
    }
    return NULL;
}

const char *url_check(struct slice text) {
    size_t scheme = text.n > 7 && strncasecmp(text.p, "http://", 7) == 0    ? 7
                    : text.n > 8 && strncasecmp(text.p, "https://", 8) == 0 ? 8
                                                                            : 0;
    if (!scheme)
        return "must be an absolute URL that begins with http:// or https://";
    if (text.n > URL_LONGEST)
        return "must be at most 2048 characters long";
    const char *wrong = check_characters(text);
    if (wrong)
        return wrong;
    struct slice authority = slice_skip(text, scheme);
    for (size_t i = 0; i < authority.n; i++)
        if (strchr("/?#", authority.p[i]))
            authority.n = i;
    return check_authority(authority);
}
