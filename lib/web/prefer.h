/* The request header Prefer (RFC 7240). */
#ifndef SWITCHBOARD_PREFER_H
#define SWITCHBOARD_PREFER_H

#include "base/slice.h"

/* Whether `header` (several header fields joined by commas, or NULL) holds the preference `name`
 * with `value`, a token or a quoted string, or with "" none. The comparison ignores case. If a
 * preference is repeated, the first one counts (RFC 7240 2); its parameters are ignored. */
bool prefer_has(const char *header, const char *name, const char *value);

#endif
