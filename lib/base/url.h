/* URLs that a user configures (RFC 3986). */
#ifndef SWITCHBOARD_URL_H
#define SWITCHBOARD_URL_H

#include "base/slice.h"

enum { URL_LONGEST = 2048 }; /* bytes */

/* A regular expression (ECMA 262) that every valid URL matches. */
#define URL_PATTERN "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]"

/* Returns NULL when `text` is an absolute http: or https: URL that can be requested unchanged; else
 * the problem as a static string, which follows the field's name ("must ..."). */
const char *url_check(struct slice text);

#endif
