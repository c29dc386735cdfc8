/* Names of parameters that all readers of a query or a form understand alike: NAME, NAME[KEY],
 * NAME[KEY][KEY], NAME[], in which NAME and KEY consist of letters, digits, `_` and `-`.
 *
 * Of other names readers make different ones. PHP skips white space before a name, turns a space, a
 * dot or a single bracket into `_`, ends the name at a NUL, and ignores what follows a key; other
 * readers take a name as it stands.
 */
#ifndef SWITCHBOARD_PLAIN_NAME_H
#define SWITCHBOARD_PLAIN_NAME_H

#include "base/slice.h"

enum { PLAIN_NAME_MAX_KEYS = 15 };

/* Whether the name has this form, with at most PLAIN_NAME_MAX_KEYS keys. */
bool plain_name_check(struct slice name);

/* Whether `raw`, as it stands in a query or a form, is the plain name: no character but the
 * brackets is percent-encoded. */
bool plain_name_is_raw(struct slice name, struct slice raw);

/* Whether the NAME of a plain name is `word`, in any case, and with `-` for `_`. */
bool plain_name_is(struct slice name, const char *word);

/* Whether readers may take one of two plain names for the other, or for a part of it, so that one
 * of the values is lost: `a` and `a`, `a` and `a[b]`, `a[]` and `a[0]`. Two items `a[]` are none.
 */
bool plain_name_clash(struct slice a, struct slice b);

#endif
