/* JSON: a strict reader that never changes a byte, and a writer.
 *
 * What comes from a client or from the platform is checked whole against RFC 8259 (and for valid
 * UTF-8, depth and number of values), then looked at through an index of its values. Every value
 * keeps its original bytes (`json_raw`), so what is passed on is passed on exactly as it came:
 * 9007199254740993, 1e400, "\u0000" and "\/" survive, which no parse-and-print allows.
 *
 * What the program says itself is built with `struct json_writer`: commas and closing brackets
 * are its business, strings are escaped, and raw values are spliced in unchanged.
 */
#ifndef SWITCHBOARD_JSON_H
#define SWITCHBOARD_JSON_H

#include <stdint.h>

#include "base/buffer.h"

enum json_type {
    JSON_ABSENT, /* no value: what looking up a missing member gives */
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

enum {
    JSON_MAX_DEPTH = 128,      /* arrays and objects inside each other */
    JSON_MAX_VALUES = 1000000, /* values and member names in one text */
};

/* One value inside a checked text. Passed by value; valid as long as the text and the arena. A
 * value that is not there has type JSON_ABSENT and may be asked anything. */
struct json {
    const struct json_text *text;
    uint32_t at;  /* its place in the index */
    uint32_t end; /* the end of what it is being iterated in */
};

/* Where and why a text is not JSON. `line` and `column` count from 1, columns in bytes. */
struct json_error {
    const char *reason; /* a static string such as "a value was expected" */
    size_t offset, line, column;
    bool is_limit; /* it may well be JSON, but there is more of it than this reader takes */
};

/* Checks `bytes` whole and indexes it in `arena`. Returns 0 and the value, or -1 and `*error`.
 * RFC 8259; a byte order mark is refused (8.1), duplicate names and lone surrogates are allowed.
 * The bytes are not copied: they must live as long as the value is used. */
int json_read(struct arena *arena, struct slice bytes, struct json *value,
              struct json_error *error);

enum json_type json_type(struct json value);

/* What a type is called in a message: "string", "object", ... */
const char *json_type_name(enum json_type type);

/* The value's bytes exactly as they came, quotes and brackets included; empty when absent. */
struct slice json_raw(struct json value);

/* Cuts the next token, or several that nothing separates, from what is left of json_raw; empty at
 * the end. All of them together are the text without the white space between its tokens. */
struct slice json_cut_token(struct slice *rest);

/* The member `name` of an object: the last one where names repeat, as most readers do. Absent
 * when there is none or `object` is no object. */
struct json json_get(struct json object, const char *name);

/* `json_get` along a dotted path: json_find(v, "metadata.phone_number_id"). */
struct json json_find(struct json value, const char *path);

/* The first item of an array or the first member's value of an object, and the one after it;
 * absent at the end:  for (struct json i = json_first(a); json_is(i); i = json_next(i))  */
struct json json_first(struct json container);
struct json json_next(struct json item);
bool json_is(struct json value); /* whether there is a value at all */

/* The decoded name of a member got by iteration; its bytes between the quotes, escapes and all; and
 * whether it is `name`, escaped or not. */
struct slice json_name(struct json member, struct arena *arena);
struct slice json_raw_name(struct json member);
bool json_is_named(struct json member, const char *name);

/* The same value, no longer iterated in: json_next finds nothing after it. */
struct json json_alone(struct json value);

/* The number of items or members. */
size_t json_count(struct json container);

/* A string's decoded bytes (NUL-terminated one byte past its end; it may hold NUL bytes itself;
 * lone surrogates become U+FFFD). p == NULL when the value is not a string. */
struct slice json_string(struct json value, struct arena *arena);

/* A string's bytes between the quotes, escapes and all: empty exactly when the string is. */
struct slice json_inside(struct json value);

/* The same as json_string, as a C string: NULL when the value is no string or holds a NUL byte. */
const char *json_text(struct json value, struct arena *arena);

/* Whether the value is a string with exactly these (ASCII) characters, unescaped or not. */
bool json_equals(struct json value, const char *text);

/* An integer, given as a number or as a string of digits (the platform uses both). Returns false
 * for anything else, fractions and what does not fit in 64 bits included. */
bool json_integer(struct json value, int64_t *number);

struct json_writer {
    struct buffer out;
    int depth;
    bool comma; /* the next value needs a comma before it */
    char closers[JSON_MAX_DEPTH];
};

/* A writer whose text lives in `arena`. */
void json_write_start(struct json_writer *writer, struct arena *arena);

/* Each writes one value. `name` is its member name inside an object and NULL elsewhere; names are
 * plain ASCII of the program's own. A NULL or p == NULL string is written as null. Invalid UTF-8
 * is replaced by U+FFFD. */
void json_write_object(struct json_writer *writer, const char *name);
void json_write_array(struct json_writer *writer, const char *name);
void json_write_end(struct json_writer *writer); /* closes the innermost object or array */
void json_write_text(struct json_writer *writer, const char *name, const char *text);
void json_write_string(struct json_writer *writer, const char *name, struct slice string);
void json_write_integer(struct json_writer *writer, const char *name, int64_t number);
void json_write_bool(struct json_writer *writer, const char *name, bool value);
void json_write_null(struct json_writer *writer, const char *name);
void json_write_time(struct json_writer *writer, const char *name, int64_t ms); /* ISO 8601 */

/* Splices in a value that is JSON already, unchanged; empty or p == NULL is written as null. */
void json_write_raw(struct json_writer *writer, const char *name, struct slice json);

/* The finished text; everything that was opened must have been closed. */
struct slice json_written(const struct json_writer *writer);

#endif
