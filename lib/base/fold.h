/* Folding: what a search compares instead of a text. Case, accents and other marks are removed,
 * forms of one character are made equal (Unicode NFKD and case folding), letters that have no
 * decomposition become plain ones (`ø` becomes `o`), Arabic letters that one keyboard or another
 * writes become one (U+0649, U+06CC and U+064A; U+0629 and U+0647; U+06A9 and U+0643), and the
 * tatweel is dropped. German `ö` becomes `o`: a search for `oe` does not find it. */
#ifndef SWITCHBOARD_FOLD_H
#define SWITCHBOARD_FOLD_H

#include <stdint.h>

#include "base/buffer.h"

enum { FOLD_MOST = 64 }; /* characters of the folded form of one: a decomposition has at most 18 */

/* Writes the folded form of the first character of the `n` > 0 bytes to `codes`, of `*count`
 * characters, perhaps none. Returns the length of that character in bytes. An invalid byte becomes
 * a space. */
size_t fold_character(const char *text, size_t n, int32_t codes[FOLD_MOST], size_t *count);

/* Appends the folded text, with each run of white space and controls as one space. */
void fold_add(struct buffer *out, struct slice text);

#endif
