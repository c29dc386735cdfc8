/* URLs that a user configures (RFC 3986). */
#ifndef SWITCHBOARD_URL_H
#define SWITCHBOARD_URL_H

#include "base/slice.h"

/* Returns NULL when `text` is an absolute http: or https: URL that can be requested unchanged; else
 * the problem as a static string, which follows the field's name ("must ..."). */
const char *url_check(struct slice text);

#endif
