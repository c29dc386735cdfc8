/* JSON in three parts: a strict RFC 8259 check; slices of the original bytes, so that fixtures are
 * returned byte for byte, with numbers beyond 2^53 and duplicate keys; and printing in the
 * platform's form: compact, `\/`, every character beyond ASCII as lower-case \uXXXX. Values are
 * read with cJSON. */
#ifndef SANDBOX_JSON_H
#define SANDBOX_JSON_H

#include "bytes.h"

#include <cjson/cJSON.h>

/* A part of bytes that another object owns. */
struct slice {
    const char *text;
    size_t length;
};

/* True if text is exactly one JSON value (RFC 8259), valid UTF-8, nested at most 500 deep. */
bool json_valid(const char *text, size_t length);

/* Checks and parses text. Returns NULL if it is not valid JSON. The caller deletes the result. */
cJSON *json_parse(const char *text, size_t length);

/* Sets *value to the original bytes of member `name` of the valid JSON object in `object`. Returns
 * false if it is absent. If a name is given twice, the first one counts. */
bool json_member(struct slice object, const char *name, struct slice *value);

/* Sets *element to the next element of a valid JSON array; *cursor starts at 0. Returns false after
 * the last. */
bool json_element(struct slice array, size_t *cursor, struct slice *element);

/* Returns the decoded string of member `name`, which the caller frees; NULL if it is absent or not
 * a string. */
char *json_member_text(struct slice object, const char *name);

/* Append a quoted string, or a whole value, in the platform's encoding. */
void json_quote(struct bytes *out, const char *text, size_t length);
void json_print(struct bytes *out, const cJSON *value);

/* True when the bytes are valid UTF-8. */
bool utf8_valid(const char *text, size_t length);

/* The string in member `name`, or NULL. */
const char *json_text(const cJSON *object, const char *name);

/* The kinds of struct members that a JSON object can fill. */
enum json_kind {
    JSON_TEXT,     /* char *, owned, replaced */
    JSON_NUMBER,   /* uint64_t; negative or fractional numbers are refused */
    JSON_FLAG,     /* bool */
    JSON_ELSEWHERE /* allowed, but read by another function */
};

struct json_field {
    const char *name;
    enum json_kind kind;
    size_t offset;
};

/* Fills *target from object by the table (ended by a NULL name). Unknown members and wrong types
 * are refused. Returns NULL, or an error text that the caller frees. */
char *json_fill(void *target, const struct json_field *fields, const cJSON *object);

/* json_fields_release frees the texts of *target; json_fields_print appends *target as the JSON
 * object that would fill it. */
void json_fields_release(void *target, const struct json_field *fields);
void json_fields_print(struct bytes *out, const void *target, const struct json_field *fields);

#endif
