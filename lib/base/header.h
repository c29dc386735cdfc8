/* The syntax of header fields (RFC 9110 5.6). */
#ifndef SWITCHBOARD_HEADER_H
#define SWITCHBOARD_HEADER_H

#include "base/slice.h"

/* Whether the text is a token: one or more letters, digits and some other characters, such as a
 * header's name, a parameter's name or one half of a MIME type (RFC 9110 5.6.2). */
bool header_is_token(struct slice text);

#endif
