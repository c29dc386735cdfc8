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

/* Makes `text` one that a terminal may print: each byte that is not UTF-8 and each character that
 * moves the cursor or changes the order of a line becomes `?`; with `keeps_lines` not U+000A. These
 * are U+0000 to U+001F, U+007F to U+009F, the line separators U+2028 and U+2029, and the controls
 * of direction of Unicode (UAX 9: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). */
void utf8_show(char *text, bool keeps_lines);

#endif
