/* JSON: a strict reader that keeps the original bytes, and a writer.
 *
 * The reader checks a whole text against RFC 8259 (and for valid UTF-8, depth and number of values)
 * and builds an index of its values. Every value refers to its original bytes (`json_raw`), so the
 * program can forward it unchanged: 9007199254740993, 1e400, "\u0000" and "\/" would not survive
 * parsing and printing.
 *
 * The writer, `struct json_writer`, adds commas and closing brackets, escapes strings, and copies
 * raw values unchanged.
 */
#ifndef SWITCHBOARD_JSON_H
#define SWITCHBOARD_JSON_H

#include <stdint.h>

#include "base/buffer.h"

enum json_type {
    JSON_ABSENT, /* no value: the result of a look-up of a missing member */
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

enum {
    JSON_MAX_DEPTH = 128,      /* nested arrays and objects */
    JSON_MAX_VALUES = 1000000, /* values and member names in one text */
};

/* One value inside a checked text. Passed by value; valid as long as the text and the arena. An
 * absent value has the type JSON_ABSENT; every function accepts it. */
struct json {
    const struct json_text *text;
    uint32_t at;  /* the index of its node */
    uint32_t end; /* the index after the last node of the container that is iterated */
};

/* Where and why a text was refused. `line` and `column` count from 1, columns in bytes. */
struct json_error {
    const char *reason; /* a static string such as "a value was expected" */
    size_t offset, line, column;
    bool is_limit; /* a limit of this reader was exceeded; the text may be valid JSON */
};

/* Checks all of `bytes` and builds the index in `arena`. Returns 0 and the value, or -1 and
 * `*error`. RFC 8259; a byte order mark is refused (8.1), duplicate names and lone surrogates are
 * allowed. Absent bytes (p NULL) are an empty text, which is refused. The bytes are not copied:
 * they must live as long as the value is used. */
int json_read(struct arena *arena, struct slice bytes, struct json *value,
              struct json_error *error);

enum json_type json_type(struct json value);

/* Returns the type's name for messages: "string", "object", ... */
const char *json_type_name(enum json_type type);

/* Returns the value's original bytes, including quotes and brackets; empty when absent. */
struct slice json_raw(struct json value);

/* Skips white space, takes the tokens before the next white space off the front of `*rest` and
 * returns them; empty at the end. `*rest` is initially the result of json_raw. All results joined
 * are the text without the white space between its tokens. */
struct slice json_cut_token(struct slice *rest);

/* Returns the member `name` of an object; of several with this name the last, as most readers do.
 * Absent when there is none or `object` is not an object. */
struct json json_get(struct json object, const char *name);

/* Applies json_get to each name of a dotted path: json_find(v, "metadata.phone_number_id"). */
struct json json_find(struct json value, const char *path);

/* Iterate over the items of an array or the members' values of an object; absent at the end:
 *     for (struct json i = json_first(a); json_is(i); i = json_next(i))  */
struct json json_first(struct json container);
struct json json_next(struct json item);
bool json_is(struct json value); /* whether the value is present */

/* For a member from an iteration: its decoded name; the original bytes of its name between the
 * quotes; whether its decoded name is `name`. */
struct slice json_name(struct json member, struct arena *arena);
struct slice json_raw_name(struct json member);
bool json_is_named(struct json member, const char *name);

/* Returns the value without its iteration: json_next of it is absent. */
struct json json_alone(struct json value);

/* Returns the number of items or members. */
size_t json_count(struct json container);

/* Returns a decoded name that two members of one object have, in the value or anywhere within it;
 * p == NULL when there is none. Of such members readers take the first, the last, or none
 * (RFC 8259 4). In time n log n; what it needs lives in `arena`. */
struct slice json_doubled_name(struct json value, struct arena *arena);

/* Returns a string's decoded bytes, in `arena`. A NUL byte follows them; they may hold NUL bytes
 * too. Lone surrogates become U+FFFD. p == NULL when the value is not a string. */
struct slice json_string(struct json value, struct arena *arena);

/* Returns a string's original bytes between the quotes, which are empty only when the string is
 * empty. p == NULL when the value is not a string. */
struct slice json_inside(struct json value);

/* As json_string, but a C string: NULL when the value is not a string or holds a NUL byte. */
const char *json_text(struct json value, struct arena *arena);

/* Whether the value is a string that decodes to exactly `text` (ASCII). */
bool json_equals(struct json value, const char *text);

/* Reads an integer from a number or from a string of digits (the platform sends both). Returns
 * false for any other value, also for fractions and for integers that need more than 64 bits. */
bool json_integer(struct json value, int64_t *number);

struct json_writer {
    struct buffer out;
    int depth;
    bool comma; /* the next value needs a comma before it */
    char closers[JSON_MAX_DEPTH];
};

/* Starts a text, which lives in `arena`; the second one starts the object that the text is, too. */
void json_write_start(struct json_writer *writer, struct arena *arena);
void json_write_start_object(struct json_writer *writer, struct arena *arena);

/* Each writes one value. Inside an object `name` is its member name, an ASCII constant; elsewhere
 * it is NULL. A NULL or p == NULL string is written as null; U+FFFD replaces invalid UTF-8. */
void json_write_object(struct json_writer *writer, const char *name);
void json_write_array(struct json_writer *writer, const char *name);
void json_write_end(struct json_writer *writer); /* closes the innermost object or array */
void json_write_text(struct json_writer *writer, const char *name, const char *text);
void json_write_string(struct json_writer *writer, const char *name, struct slice string);
void json_write_integer(struct json_writer *writer, const char *name, int64_t number);
void json_write_bool(struct json_writer *writer, const char *name, bool value);
void json_write_null(struct json_writer *writer, const char *name);
/* A number that is above 0 if it is known; 0 is written as null. */
void json_write_integer_or_null(struct json_writer *writer, const char *name, int64_t number);
void json_write_time(struct json_writer *writer, const char *name, int64_t ms); /* ISO 8601 */
/* The same; INT64_MIN and INT64_MAX are written as null. */
void json_write_time_or_null(struct json_writer *writer, const char *name, int64_t ms);

/* Copies a value that is already JSON, unchanged; empty or p == NULL is written as null. */
void json_write_raw(struct json_writer *writer, const char *name, struct slice json);

/* The array of the words of a text, which are separated by one space; NULL is written as null. */
void json_write_words(struct json_writer *writer, const char *name, const char *words);

/* Returns the text, after closing the objects and arrays that are open. */
struct slice json_written(struct json_writer *writer);

#endif
