/* UTF-8 (RFC 3629). */
#ifndef SWITCHBOARD_UTF8_H
#define SWITCHBOARD_UTF8_H

#include <stdint.h>

#include "base/slice.h"

/* The length (1 to 4) of the valid character that begins at `p`, which has `n` bytes to go; 0 when
 * they begin no valid character: overlong forms, surrogates and values over U+10FFFF included. */
size_t utf8_length(const char *p, size_t n);

/* Writes the character `code` (at most U+10FFFF) to `out` and returns its length. */
size_t utf8_put(uint32_t code, char out[4]);

/* Whether all bytes are valid UTF-8. */
bool utf8_valid(struct slice text);

/* How many bytes at the front are valid: at most `most`, and what is left of a character there. */
size_t utf8_clip(struct slice text, size_t most);

#endif
