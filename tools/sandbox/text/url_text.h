/* Text in URLs. */
#ifndef SANDBOX_URL_TEXT_H
#define SANDBOX_URL_TEXT_H

#include "base/buffer.h"

/* Appends `text` with all but unreserved characters percent-encoded. */
void url_encode(struct buffer *out, const char *text);

#endif
