/* The reading of JSON: a strict check by RFC 8259, written for the sandbox alone, and parts of the
 * original bytes, so that fixtures are returned byte for byte, with numbers beyond 2^53 and
 * duplicate keys. cJSON reads the values of what was checked. */
#ifndef SANDBOX_STRICT_JSON_H
#define SANDBOX_STRICT_JSON_H

#include <cjson/cJSON.h>

#include "base/arena.h"

/* Whether `text` is exactly one JSON value (RFC 8259) in valid UTF-8, nested at most 500 deep. */
bool json_valid(struct slice text);

/* Checks and parses `text`. Of members of one object that have one name the last is kept, as by the
 * parser of PHP. Returns NULL when it is not valid JSON; else the caller calls cJSON_Delete. */
cJSON *json_parse(struct slice text);

/* Sets `*value` to the original bytes of member `name` of `object`, which is valid JSON. Returns
 * false when the member is absent or `object` is no object. Of two members of one name the first
 * counts. */
bool json_member(struct slice object, const char *name, struct slice *value);

/* Sets `*element` to the next element of `array`, which is valid JSON; `*cursor` starts at 0.
 * Returns false after the last element. */
bool json_element(struct slice array, size_t *cursor, struct slice *element);

/* Returns the decoded string of member `name` in `arena`; NULL when it is absent or no string. */
const char *json_member_text(struct arena *arena, struct slice object, const char *name);

#endif
