/* The variables {{...}} in the texts of templates. */
#ifndef SANDBOX_PLACEHOLDER_H
#define SANDBOX_PLACEHOLDER_H

#include "base/slice.h"

/* Sets `*name` to the name of the first variable of `text` (NULL: none) and returns the text behind
 * it; NULL when there is none. The name lies in `text`. */
const char *placeholder_next(const char *text, struct slice *name);

/* Returns the number of different variables of `text` (NULL: 0); names in upper and lower case are
 * the same. */
int placeholder_count(const char *text);

#endif
