/* The request header Prefer (RFC 7240). */
#ifndef SWITCHBOARD_PREFER_H
#define SWITCHBOARD_PREFER_H

#include "base/slice.h"

/* Whether `header` (several header fields joined by commas, or NULL) prefers `name` with `value`,
 * in any case of letters, as a token or a quoted string. Of a preference that is repeated the first
 * counts (RFC 7240 2); parameters are skipped. */
bool prefer_has(const char *header, const char *name, const char *value);

#endif
