/* JSON three ways: a strict RFC 8259 check, slices of the original bytes (so that what a fixture
 * holds comes out byte for byte, numbers beyond 2^53 and duplicate keys included), and printing
 * as the platform does it: compact, `\/`, everything beyond ASCII as lower-case \uXXXX. cJSON is
 * used to look at values. */
#ifndef SANDBOX_JSON_H
#define SANDBOX_JSON_H

#include "bytes.h"

#include <cjson/cJSON.h>

/* A piece of somebody else's bytes. */
struct slice {
    const char *text;
    size_t length;
};

/* True when text is exactly one JSON value (RFC 8259), valid UTF-8, nested at most 500 deep. */
bool json_valid(const char *text, size_t length);

/* Parses checked text; NULL when it is not valid JSON. The caller deletes it. */
cJSON *json_parse(const char *text, size_t length);

/* Member `name` of the valid JSON object in `object` as original bytes; false when absent. The
 * first one wins where a name is given twice. */
bool json_member(struct slice object, const char *name, struct slice *value);

/* The next element of a valid JSON array; *cursor starts at 0. False after the last. */
bool json_element(struct slice array, size_t *cursor, struct slice *element);

/* The string that member `name` holds, decoded; NULL when absent or not a string. Caller frees. */
char *json_member_text(struct slice object, const char *name);

/* Appends a quoted string, or a whole value, in the platform's encoding. */
void json_quote(struct bytes *out, const char *text, size_t length);
void json_print(struct bytes *out, const cJSON *value);

/* True when the bytes are valid UTF-8. */
bool utf8_valid(const char *text, size_t length);

/* The string in member `name`, or NULL. */
const char *json_text(const cJSON *object, const char *name);

/* Parts of a struct that a JSON object fills. */
enum json_kind {
    JSON_TEXT,     /* char *, owned, replaced */
    JSON_NUMBER,   /* uint64_t; negative or fractional numbers are refused */
    JSON_FLAG,     /* bool */
    JSON_ELSEWHERE /* known here, read by somebody else */
};

struct json_field {
    const char *name;
    enum json_kind kind;
    size_t offset;
};

/* Fills *target from object by the table (ended by a NULL name). Unknown members and wrong types
 * are refused. Returns NULL, or a sentence the caller frees. */
char *json_fill(void *target, const struct json_field *fields, const cJSON *object);

/* Frees the texts of *target, and prints *target as the JSON object that would fill it. */
void json_fields_release(void *target, const struct json_field *fields);
void json_fields_print(struct bytes *out, const void *target, const struct json_field *fields);

#endif
