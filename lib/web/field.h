/* Declared fields: the required form of a body or a query, as data. One table describes one object;
 * `field_check` compares a value with it and collects every issue, not only the first.
 */
#ifndef SWITCHBOARD_FIELD_H
#define SWITCHBOARD_FIELD_H

#include "base/json.h"

enum field_type {
    FIELD_STRING = 1,
    FIELD_INTEGER,          /* in queries: decimal digits with an optional sign */
    FIELD_STRING_OR_NUMBER, /* either; forwarded unchanged */
    FIELD_BOOLEAN,
    FIELD_OBJECT,
    FIELD_ARRAY,
    FIELD_STRINGS, /* an array of strings: may_be_empty, values, rule and example are of its items
                    */
    FIELD_ONE_OF, /* not a field itself: at least one of `names` must be present; with max 1 exactly
                     one */
};

/* A rule for the content of a string. Its members are part of the description of the routes. */
struct text_rule {
    const char *meaning; /* what the text must be, such as `an absolute URL` */
    const char *pattern; /* a regular expression (ECMA 262) that every valid text matches; `check`
                            may require more. NULL: none */
    size_t longest;      /* bytes; 0: any length */
    const char *(*check)(struct slice text); /* returns NULL when valid, else the problem, which
                                                follows the field's name ("must be ..."); NULL: the
                                                length alone counts */
};

/* An absolute http: or https: URL; see url_check. */
extern const struct text_rule field_url_rule;

/* A name that people give, of at most 100 bytes, and a text that they write, of at most 16,384
 * bytes: both without NUL characters. */
extern const struct text_rule field_name_rule, field_text_rule;

/* Values that several fields share: in the reference they are a schema of its own. */
struct vocabulary {
    const char *schema;          /* the name of the schema */
    const char *const *meanings; /* a sentence for each of `values`, in their order */
    const char *preset;          /* what null stands for: words separated by spaces */
};

/* One row of a table; a table ends with an empty row. */
struct field {
    const char *name;
    enum field_type type;
    bool required;
    bool may_be_empty;          /* strings: "" is allowed */
    bool may_be_null;           /* null is allowed; it is never checked further */
    int64_t min, max;           /* arrays: items; integers: value. max 0: no upper bound */
    const struct field *fields; /* members of an object, or of every item of an array of objects;
                                   NULL: not checked */
    const char *const *values;  /* strings: the allowed values; ends with NULL */
    const struct vocabulary *vocabulary; /* of `values`, for the description of the routes */
    const char *const *names;            /* FIELD_ONE_OF: the alternatives; ends with NULL */
    const char *example;          /* strings: a value that the platform or `rule` accepts, for the
                                     description of the routes (describe.h); NULL: any text */
    const struct text_rule *rule; /* strings; NULL: any text */
};

enum {
    FIELDS_MAX = 20,      /* rows of a table */
    ISSUES_LISTED = 1000, /* later issues are only counted: a body of 2 MB can have a million */
};

/* The table of a body whose object has no members that count. */
extern const struct field field_none[];

/* The issues found so far: a JSON array of {path, code, message} (spec 2.1, `details`). */
struct issues {
    struct json_writer list;
    size_t count;
    const char *first; /* "path message" of the first one */
    bool is_strict;    /* members and parameters without a row are issues, too */
    struct arena *arena;
};

/* Makes an empty list whose text lives in `arena`. */
void issues_start(struct issues *issues, struct arena *arena);

/* Adds one issue. Codes: required, invalid_type, empty, too_few, too_many, out_of_range,
 * invalid_value, one_of, unknown_field. Examples of `path`: `media.type`,
 * `sections[0].rows[1].id`. */
void issues_add(struct issues *issues, const char *path, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the array and returns it. */
struct slice issues_written(struct issues *issues);

/* Compares the object `value` with `fields`, in time linear in its size. Unknown members are
 * ignored unless `issues` is strict. `path` is the path of `value`, "" for the whole body. */
void field_check(const struct field *fields, struct json value, const char *path,
                 struct issues *issues);

/* Whether the table has a row of this name. */
bool field_is_declared(const struct field *fields, struct slice name);

/* The decoded parameters of a query string (RFC 3986 3.4, `+` is a space). */
struct query {
    struct query_value *values;
    size_t count;
};

struct query_value {
    struct slice name, value;
};

/* Splits and decodes `text` into `query`, in `arena`. Returns 0, or -1 with `*error`, a static
 * sentence for the client, when an escape is invalid, a decoded name or value holds a NUL byte or
 * invalid UTF-8, or there are more than 100 parameters. */
int query_read(struct arena *arena, const char *text, struct query *query, const char **error);

/* Returns the first value of `name`; a NUL byte follows it. p == NULL when there is none. */
struct slice query_get(const struct query *query, const char *name);

/* Returns the parameter `name`, which the route's field table has checked as a FIELD_INTEGER;
 * `preset` without one. */
int64_t query_integer(const struct query *query, const char *name, int64_t preset);

/* Compares the query with `fields` (FIELD_STRING and FIELD_INTEGER). Parameters without a row are
 * ignored unless `issues` is strict. */
void field_check_query(const struct field *fields, const struct query *query,
                       struct issues *issues);

#endif
