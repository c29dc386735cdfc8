/* The syntax of header fields (RFC 9110 5.6). */
#ifndef SWITCHBOARD_HEADER_H
#define SWITCHBOARD_HEADER_H

#include "base/arena.h"

/* Whether the text is a token: one or more letters, digits and some other characters, such as a
 * header's name, a parameter's name or one half of a MIME type (RFC 9110 5.6.2). */
bool header_is_token(struct slice text);

/* Returns the last part of a file name, for the parameter filename in double quotes (RFC 7578 4.2),
 * in `arena`; `file` for an empty one. Control characters and quotes, which would end the line or
 * the parameter, are removed; a byte that is not UTF-8 becomes `_`. The result has at most 243
 * bytes; it is longer than `name` only if it is `file`. */
const char *header_file_name(struct arena *arena, const char *name);

#endif
