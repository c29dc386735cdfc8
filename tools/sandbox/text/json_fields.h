/* Tables that connect the members of a JSON object with the members of a struct. */
#ifndef SANDBOX_JSON_FIELDS_H
#define SANDBOX_JSON_FIELDS_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "base/buffer.h"

/* The kinds of struct members that a JSON object can fill. */
enum json_kind {
    JSON_TEXT,     /* const char * */
    JSON_NUMBER,   /* int64_t; negative and fractional numbers are refused */
    JSON_FLAG,     /* bool */
    JSON_ELSEWHERE /* allowed, but read by another function */
};

/* One row; a table ends with a NULL name. */
struct json_field {
    const char *name;
    enum json_kind kind;
    size_t offset; /* of the struct's member */
};

/* Returns the string in member `name` of `object`; NULL when it is absent or no string. It belongs
 * to the object. */
const char *json_text(const cJSON *object, const char *name);

/* Returns the text of a string or, in `arena`, of a whole number below 2^53, such as an id that a
 * client sends as a number; NULL for anything else. */
const char *json_digits(struct arena *arena, const cJSON *value);

/* Returns member `name` of `object`, or NULL. */
const cJSON *json_get(const cJSON *object, const char *name);

/* Sets the members of `*target` that `object` gives; texts are copied into `arena`. Returns NULL,
 * or in `arena` the text of an error: `object` is no object, has an unknown member, or one of a
 * wrong type. The members before the wrong one are set then. */
const char *json_fill(struct arena *arena, void *target, const struct json_field *fields,
                      const cJSON *object);

/* Replaces the texts of `*target` by copies in `arena`. */
void json_fields_copy(struct arena *arena, void *target, const struct json_field *fields);

/* Appends `*target` as the JSON object that would fill it. */
void json_fields_print(struct buffer *out, const void *target, const struct json_field *fields);

#endif
