/* Comparisons and conversions of NUL-terminated texts. */
#ifndef SANDBOX_TEXT_H
#define SANDBOX_TEXT_H

#include "base/buffer.h"

/* Returns a copy of `text` in `arena`; NULL for NULL. */
const char *text_copy(struct arena *arena, const char *text);

/* Returns the decimal digits of `text`, without the characters between them, in `arena`. */
const char *text_digits(struct arena *arena, const char *text);

/* Returns the number of characters (not bytes) of a UTF-8 text. */
size_t text_characters(const char *text);

/* Whether `text` contains `needle`. With `needle` NULL every text does; a NULL text contains
 * nothing else. */
bool text_contains(const char *text, const char *needle);

/* Whether `text` equals `want`. With `want` NULL every text does; a NULL text equals nothing
 * else. */
bool text_matches(const char *text, const char *want);

/* Appends `text` with all but unreserved characters percent-encoded, for a URL. */
void url_encode(struct buffer *out, const char *text);

#endif
