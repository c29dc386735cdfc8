/* URLs that a user configures (RFC 3986). */
#ifndef SWITCHBOARD_URL_H
#define SWITCHBOARD_URL_H

#include "base/slice.h"

/* NULL when `text` is an absolute http: or https: URL that can be requested as it stands; else what
 * is wrong with it, to follow the field's name ("must ..."). */
const char *url_check(struct slice text);

#endif
