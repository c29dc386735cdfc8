/* URLs that a user configures (RFC 3986). */
#ifndef SWITCHBOARD_URL_H
#define SWITCHBOARD_URL_H

#include "base/slice.h"

enum { URL_LONGEST = 2048 }; /* bytes */

/* A regular expression (ECMA 262) that every valid URL matches. */
#define URL_PATTERN                                                                                \
    "^[Hh][Tt][Tt][Pp][Ss]?://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]{1,253})(:(0{0,4}("              \
    "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?)?"    \
    "([/?#]([!#$&-;=?-Z_a-z~\\[\\]]|%[0-9A-Fa-f]{2})*)?$"

/* Returns NULL when `text` is an absolute http: or https: URL that can be requested unchanged; else
 * the problem as a static string, which follows the field's name ("must ..."). */
const char *url_check(struct slice text);

#endif
