/* Plain letters for those that Unicode does not decompose, so that a search from another keyboard
 * finds a name. */
#ifndef SWITCHBOARD_PLAIN_LETTER_H
#define SWITCHBOARD_PLAIN_LETTER_H

#include <stdint.h>

/* The 1 or 2 ASCII characters for a Latin letter in lower case with a stroke, a hook and such, for
 * a ligature, a small capital, the dotless i, thorn, eth, eng and others; an apostrophe for a
 * letter that stands for one (U+02BB). NULL for every other character. */
const char *plain_letter(int32_t code);

/* The Hiragana of a Katakana; any other character as it is. They differ as upper and lower case
 * do: in the tertiary weight (UTS #10). */
int32_t plain_kana(int32_t code);

#endif
