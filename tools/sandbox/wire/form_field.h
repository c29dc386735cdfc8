/* The fields of a form as members of a JSON object. */
#ifndef SANDBOX_FORM_FIELD_H
#define SANDBOX_FORM_FIELD_H

#include <cjson/cJSON.h>

#include "base/arena.h"

/* Returns in `arena` the text that `text` encodes in application/x-www-form-urlencoded. */
const char *form_decode(struct arena *arena, struct slice text);

/* Sets the member that `name` stands for to the string `value`: "a" is a member of `object`,
 * "a[b]" a member of its member `a`, "a[0]" an element of the array `a`, and "a[]" a further
 * element. A name that does not fit the members before it is ignored. */
void form_field_put(struct arena *arena, cJSON *object, const char *name, const char *value);

#endif
