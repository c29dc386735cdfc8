/* UTF-8 (RFC 3629). */
#ifndef SWITCHBOARD_UTF8_H
#define SWITCHBOARD_UTF8_H

#include <stdint.h>

#include "base/slice.h"

/* Returns the length (1 to 4) of the character that begins the `n` bytes at `p`; 0 when they do not
 * begin with a valid character. Overlong forms, surrogates and values over U+10FFFF are invalid. */
size_t utf8_length(const char *p, size_t n);

/* Writes the character `code` (at most U+10FFFF) to `out` and returns its length in bytes. */
size_t utf8_put(uint32_t code, char out[4]);

/* Whether all bytes are valid UTF-8. */
bool utf8_valid(struct slice text);

/* Returns the length of the valid prefix of `text`, cut at `most` bytes; a character that begins
 * before that limit is kept whole, so the length may exceed `most` by 3. */
size_t utf8_clip(struct slice text, size_t most);

#endif
