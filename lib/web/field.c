#include "web/field.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/url.h"
#include "base/utf8.h"

enum { NAME_SHOWN = 100 }; /* bytes of an unknown field's name that an issue shows */

void issues_start(struct issues *issues, struct arena *arena) {
    *issues = (struct issues){.arena = arena};
    json_write_start(&issues->list, arena);
    json_write_array(&issues->list, NULL);
}

void issues_add(struct issues *issues, const char *path, const char *code, const char *format,
                ...) {
    char message[512];
    va_list args;
    if (issues->count++ >= ISSUES_LISTED)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (issues->count == 1)
        issues->first = arena_printf(issues->arena, "%s%s%s", path, *path ? " " : "", message);
    json_write_object(&issues->list, NULL);
    json_write_text(&issues->list, "path", path);
    json_write_text(&issues->list, "code", code);
    json_write_text(&issues->list, "message", message);
    json_write_end(&issues->list);
}

struct slice issues_written(struct issues *issues) {
    return json_written(&issues->list);
}

static const char *type_wanted(const struct field *field) {
    static const char *const names[] = {
        [FIELD_STRING] = "a string",
        [FIELD_INTEGER] = "an integer",
        [FIELD_STRING_OR_NUMBER] = "a string or a number",
        [FIELD_BOOLEAN] = "true or false",
        [FIELD_OBJECT] = "an object",
        [FIELD_ARRAY] = "an array",
        [FIELD_STRINGS] = "an array of strings",
    };
    return names[field->type];
}

static bool has_type(const struct field *field, enum json_type type) {
    switch (field->type) {
    case FIELD_STRING: return type == JSON_STRING;
    case FIELD_INTEGER: return type == JSON_NUMBER;
    case FIELD_STRING_OR_NUMBER: return type == JSON_STRING || type == JSON_NUMBER;
    case FIELD_BOOLEAN: return type == JSON_TRUE || type == JSON_FALSE;
    case FIELD_OBJECT: return type == JSON_OBJECT;
    case FIELD_ARRAY:
    case FIELD_STRINGS: return type == JSON_ARRAY;
    case FIELD_ONE_OF: break;
    }
    return false;
}

/* The path of a value in its body. Formatted only for issues that are listed. */
struct path {
    const struct path *outer; /* of the container; NULL: the whole body */
    const char *name;         /* of a member; NULL: an item */
    int64_t index;            /* of an item */
};

static void write_path(struct buffer *out, const struct path *path) {
    if (path->outer)
        write_path(out, path->outer);
    if (path->name)
        buffer_printf(out, "%s%s", out->n ? "." : "", path->name);
    else
        buffer_printf(out, "[%" PRId64 "]", path->index);
}

static const char *path_text(const struct issues *issues, const struct path *path) {
    if (issues->count >= ISSUES_LISTED)
        return "";
    struct buffer text = buffer_in(issues->arena);
    write_path(&text, path);
    return buffer_slice(&text).p;
}

/* Returns "a, b or c". */
static const char *alternatives(const struct issues *issues, const char *const *names) {
    if (issues->count >= ISSUES_LISTED)
        return "";
    struct buffer text = buffer_in(issues->arena);
    for (size_t i = 0; names[i]; i++)
        buffer_printf(&text, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
    return buffer_slice(&text).p;
}

static bool is_among(struct slice text, const char *const *values) {
    for (; *values; values++)
        if (slice_equal(text, slice_of(*values)))
            return true;
    return false;
}

static void check_text(const struct field *field, struct slice text, const struct path *path,
                       struct issues *issues) {
    const char *problem;
    if (!text.n && !field->may_be_empty)
        issues_add(issues, path_text(issues, path), "empty", "must not be empty");
    else if (field->values && !is_among(text, field->values))
        issues_add(issues, path_text(issues, path), "invalid_value", "must be %s",
                   alternatives(issues, field->values));
    else if (field->rule && field->rule->longest && text.n > field->rule->longest)
        issues_add(issues, path_text(issues, path), "invalid_value",
                   "must be at most %zu bytes long", field->rule->longest);
    else if (field->rule && field->rule->check && (problem = field->rule->check(text)))
        issues_add(issues, path_text(issues, path), "invalid_value", "%s", problem);
}

const struct field field_none[] = {{0}};

const struct text_rule field_url_rule = {
    .meaning = "an absolute http: or https: URL without user name and password",
    .pattern = URL_PATTERN,
    .longest = URL_LONGEST,
    .check = url_check,
};

static const char *nul_problem(struct slice text) {
    return memchr(text.p, '\0', text.n) ? "must hold no NUL character" : NULL;
}

const struct text_rule field_name_rule = {
    .meaning = "a name of at most 100 bytes", .longest = 100, .check = nul_problem};

const struct text_rule field_text_rule = {
    .meaning = "a text of at most 16,384 bytes without NUL characters",
    .pattern = "^[^\\u0000]*$",
    .longest = 16384,
    .check = nul_problem};

/* Decodes the string, which takes memory, only when its content is checked. Otherwise only its
 * length counts. */
static void check_string(const struct field *field, struct json value, const struct path *path,
                         struct issues *issues) {
    bool is_decoded = field->values || field->rule;
    check_text(field, is_decoded ? json_string(value, issues->arena) : json_inside(value), path,
               issues);
}

static void check_range(const struct field *field, int64_t number, const struct path *path,
                        struct issues *issues) {
    if (number < field->min || (field->max && number > field->max))
        issues_add(issues, path_text(issues, path), "out_of_range",
                   field->max ? "must be from %" PRId64 " to %" PRId64
                              : "must be at least %" PRId64,
                   field->min, field->max);
}

static void check_object(const struct field *fields, struct json object, const struct path *path,
                         struct issues *issues);

static void check_item(const struct field *field, struct json item, const struct path *path,
                       struct issues *issues) {
    const bool is_text = field->type == FIELD_STRINGS;
    const enum json_type type = json_type(item);
    if (type != (is_text ? JSON_STRING : JSON_OBJECT))
        issues_add(issues, path_text(issues, path), "invalid_type", "must be %s, not %s",
                   is_text ? "a string" : "an object", json_type_name(type));
    else if (is_text)
        check_string(field, item, path, issues);
    else
        check_object(field->fields, item, path, issues);
}

static void check_items(const struct field *field, struct json array, const struct path *path,
                        struct issues *issues) {
    struct path item_path = {.outer = path};
    int64_t n = 0;
    for (struct json item = json_first(array); json_is(item); item = json_next(item), n++) {
        item_path.index = n;
        if (field->fields || field->type == FIELD_STRINGS)
            check_item(field, item, &item_path, issues);
    }
    if (n < field->min)
        issues_add(issues, path_text(issues, path), "too_few",
                   "must hold at least %" PRId64 " item%s, not %" PRId64, field->min,
                   field->min == 1 ? "" : "s", n);
    if (field->max && n > field->max)
        issues_add(issues, path_text(issues, path), "too_many",
                   "must hold at most %" PRId64 " item%s, not %" PRId64, field->max,
                   field->max == 1 ? "" : "s", n);
}

static void check_value(const struct field *field, struct json value, const struct path *path,
                        struct issues *issues) {
    int64_t number;
    switch (json_type(value)) {
    case JSON_STRING: check_string(field, value, path, issues); break;
    case JSON_NUMBER:
        if (field->type == FIELD_INTEGER && !json_integer(value, &number))
            issues_add(issues, path_text(issues, path), "invalid_type", "must be an integer");
        else if (field->type == FIELD_INTEGER)
            check_range(field, number, path, issues);
        break;
    case JSON_OBJECT:
        if (field->fields)
            check_object(field->fields, value, path, issues);
        break;
    case JSON_ARRAY: check_items(field, value, path, issues); break;
    default: break;
    }
}

static void check_member(const struct field *field, struct json member, const struct path *path,
                         struct issues *issues) {
    if (json_type(member) == JSON_NULL && field->may_be_null)
        return;
    if (json_is(member) && has_type(field, json_type(member)))
        check_value(field, member, path, issues);
    else if (json_is(member))
        issues_add(issues, path_text(issues, path), "invalid_type", "must be %s, not %s",
                   type_wanted(field), json_type_name(json_type(member)));
    else if (field->required)
        issues_add(issues, path_text(issues, path), "required", "is required: send %s",
                   type_wanted(field));
}

/* Returns the row of a member; NULL when the table has none. */
static const struct field *row_of(const struct field *fields, struct json member) {
    for (const struct field *field = fields; field->type; field++)
        if (field->name && json_is_named(member, field->name)) {
            assert(field - fields < FIELDS_MAX);
            return field;
        }
    return NULL;
}

static void check_one_of(const struct field *field, struct json object, const struct path *path,
                         struct issues *issues) {
    int64_t present = 0;
    for (const char *const *name = field->names; *name; name++) {
        struct path place = {.outer = path, .name = *name};
        if (json_is(json_get(object, *name)) && ++present > field->max && field->max)
            issues_add(issues, path_text(issues, &place), "one_of",
                       "must be left out: send only %s", alternatives(issues, field->names));
    }
    struct path first = {.outer = path, .name = field->names[0]};
    if (!present)
        issues_add(issues, path_text(issues, &first), "one_of", "must be sent, or %s instead",
                   alternatives(issues, field->names + 1));
}

/* Adds an issue for each member without a row. The path has the name as in the body, with its
 * escapes, because a decoded name may hold any character. */
static void list_unknown(const struct field *fields, struct json object, const struct path *path,
                         struct issues *issues) {
    for (struct json member = json_first(object); json_is(member); member = json_next(member)) {
        if (row_of(fields, member))
            continue;
        struct slice name = json_raw_name(member);
        name.n = utf8_clip(name, NAME_SHOWN);
        const char *text = issues->count < ISSUES_LISTED ? arena_copy(issues->arena, name) : "";
        issues_add(issues, path_text(issues, &(struct path){.outer = path, .name = text}),
                   "unknown_field", "is not a field of this request");
    }
}

/* One pass finds the members of all rows; of members with the same name the last counts. */
static void check_object(const struct field *fields, struct json object, const struct path *path,
                         struct issues *issues) {
    struct json found[FIELDS_MAX] = {{0}};
    for (struct json member = json_first(object); json_is(member); member = json_next(member)) {
        const struct field *field = row_of(fields, member);
        if (field)
            found[field - fields] = json_alone(member);
    }
    for (const struct field *field = fields; field->type; field++) {
        assert(field - fields < FIELDS_MAX);
        if (field->type == FIELD_ONE_OF)
            check_one_of(field, object, path, issues);
        else
            check_member(field, found[field - fields],
                         &(struct path){.outer = path, .name = field->name}, issues);
    }
    if (issues->is_strict)
        list_unknown(fields, object, path, issues);
}

void field_check(const struct field *fields, struct json value, const char *path,
                 struct issues *issues) {
    check_object(fields, value, *path ? &(struct path){.name = path} : NULL, issues);
}

/* Parses a decimal integer. Returns false when `text` has another form or is out of range. */
static bool read_integer(const char *text, int64_t *number) {
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    *number = parsed;
    return !errno && *end == '\0' && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

bool field_is_declared(const struct field *fields, struct slice name) {
    for (const struct field *field = fields; field->type; field++)
        if (field->name && slice_equal(name, slice_of(field->name)))
            return true;
    return false;
}

static void list_unknown_parameters(const struct field *fields, const struct query *query,
                                    struct issues *issues) {
    for (size_t i = 0; i < query->count; i++) {
        struct slice name = query->values[i].name;
        if (field_is_declared(fields, name))
            continue;
        name.n = utf8_clip(name, NAME_SHOWN);
        issues_add(issues, arena_copy(issues->arena, name), "unknown_field",
                   "is not a query parameter of this request");
    }
}

void field_check_query(const struct field *fields, const struct query *query,
                       struct issues *issues) {
    for (const struct field *field = fields; field->type; field++) {
        struct slice value = query_get(query, field->name);
        int64_t number;
        if (!value.p && field->required)
            issues_add(issues, field->name, "required", "is required in the query string");
        if (!value.p)
            continue;
        struct path path = {.name = field->name};
        if (field->type != FIELD_INTEGER)
            check_text(field, value, &path, issues);
        else if (read_integer(value.p, &number))
            check_range(field, number, &path, issues);
        else
            issues_add(issues, field->name, "invalid_type", "must be an integer");
    }
    if (issues->is_strict)
        list_unknown_parameters(fields, query, issues);
}
