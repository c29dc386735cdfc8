#include "web/field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void issues_start(struct issues *issues, struct arena *arena) {
    *issues = (struct issues){.arena = arena};
    json_write_start(&issues->list, arena);
    json_write_array(&issues->list, NULL);
}

void issues_add(struct issues *issues, const char *path, const char *code, const char *format,
                ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (issues->count++ == 0)
        issues->first = arena_printf(issues->arena, "%s%s%s", path, *path ? " " : "", message);
    if (issues->count > ISSUES_LISTED)
        return;
    json_write_object(&issues->list, NULL);
    json_write_text(&issues->list, "path", path);
    json_write_text(&issues->list, "code", code);
    json_write_text(&issues->list, "message", message);
    json_write_end(&issues->list);
}

struct slice issues_written(struct issues *issues) {
    json_write_end(&issues->list);
    return json_written(&issues->list);
}

static const char *type_wanted(const struct field *field) {
    static const char *const names[] = {
        [FIELD_STRING] = "a string",
        [FIELD_INTEGER] = "an integer",
        [FIELD_STRING_OR_NUMBER] = "a string or a number",
        [FIELD_OBJECT] = "an object",
        [FIELD_ARRAY] = "an array",
    };
    return names[field->type];
}

static bool has_type(const struct field *field, enum json_type type) {
    switch (field->type) {
    case FIELD_STRING:
        return type == JSON_STRING;
    case FIELD_INTEGER:
        return type == JSON_NUMBER;
    case FIELD_STRING_OR_NUMBER:
        return type == JSON_STRING || type == JSON_NUMBER;
    case FIELD_OBJECT:
        return type == JSON_OBJECT;
    case FIELD_ARRAY:
        return type == JSON_ARRAY;
    case FIELD_ONE_OF:
        break;
    }
    return false;
}

/* "a, b or c" */
static const char *either(struct arena *arena, const char *const *names) {
    struct buffer text = buffer_in(arena);
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

static void check_text(const struct field *field, struct slice text, const char *path,
                       struct issues *issues) {
    const char *wrong;
    if (!text.n && !field->may_be_empty)
        issues_add(issues, path, "empty", "must not be empty");
    else if (field->values && !is_among(text, field->values))
        issues_add(issues, path, "invalid_value", "must be %s",
                   either(issues->arena, field->values));
    else if (field->check && (wrong = field->check(text)))
        issues_add(issues, path, "invalid_value", "%s", wrong);
}

static void check_range(const struct field *field, int64_t number, const char *path,
                        struct issues *issues) {
    if (number < field->min || (field->max && number > field->max))
        issues_add(issues, path, "out_of_range",
                   field->max ? "must be from %" PRId64 " to %" PRId64 : "must be at least %" PRId64,
                   field->min, field->max);
}

static void check_items(const struct field *field, struct json array, const char *path,
                        struct issues *issues) {
    int64_t n = 0;
    for (struct json item = json_first(array); json_is(item); item = json_next(item), n++) {
        if (!field->fields)
            continue;
        const char *item_path = arena_printf(issues->arena, "%s[%" PRId64 "]", path, n);
        if (json_type(item) == JSON_OBJECT)
            field_check(field->fields, item, item_path, issues);
        else
            issues_add(issues, item_path, "invalid_type", "must be an object, not %s",
                       json_type_name(json_type(item)));
    }
    if (n < field->min)
        issues_add(issues, path, "too_few", "must hold at least %" PRId64 " item%s, not %" PRId64,
                   field->min, field->min == 1 ? "" : "s", n);
    if (field->max && n > field->max)
        issues_add(issues, path, "too_many", "must hold at most %" PRId64 " item%s, not %" PRId64,
                   field->max, field->max == 1 ? "" : "s", n);
}

static void check_value(const struct field *field, struct json value, const char *path,
                        struct issues *issues) {
    int64_t number;
    switch (json_type(value)) {
    case JSON_STRING:
        check_text(field, json_string(value, issues->arena), path, issues);
        break;
    case JSON_NUMBER:
        if (field->type == FIELD_INTEGER && !json_integer(value, &number))
            issues_add(issues, path, "invalid_type", "must be an integer");
        else if (field->type == FIELD_INTEGER)
            check_range(field, number, path, issues);
        break;
    case JSON_OBJECT:
        if (field->fields)
            field_check(field->fields, value, path, issues);
        break;
    case JSON_ARRAY:
        check_items(field, value, path, issues);
        break;
    default:
        break;
    }
}

static void check_one_of(const struct field *field, struct json object, const char *path,
                         struct issues *issues) {
    for (const char *const *name = field->names; *name; name++)
        if (json_is(json_get(object, *name)))
            return;
    issues_add(issues, arena_printf(issues->arena, "%s%s%s", path, *path ? "." : "",
                                    field->names[0]),
               "one_of", "one of %s is required", either(issues->arena, field->names));
}

void field_check(const struct field *fields, struct json value, const char *path,
                 struct issues *issues) {
    for (const struct field *field = fields; field->type; field++) {
        if (field->type == FIELD_ONE_OF) {
            check_one_of(field, value, path, issues);
            continue;
        }
        struct json member = json_get(value, field->name);
        const char *member_path =
            *path ? arena_printf(issues->arena, "%s.%s", path, field->name) : field->name;
        if (!json_is(member)) {
            if (field->required)
                issues_add(issues, member_path, "required", "is required: send %s",
                           type_wanted(field));
        } else if (!has_type(field, json_type(member))) {
            issues_add(issues, member_path, "invalid_type", "must be %s, not %s",
                       type_wanted(field), json_type_name(json_type(member)));
        } else {
            check_value(field, member, member_path, issues);
        }
    }
}

/* The decimal integer that `text` is; false when it is anything else. */
static bool read_integer(const char *text, int64_t *number) {
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    *number = parsed;
    return !errno && *end == '\0' && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
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
        if (field->type != FIELD_INTEGER)
            check_text(field, value, field->name, issues);
        else if (read_integer(value.p, &number))
            check_range(field, number, field->name, issues);
        else
            issues_add(issues, field->name, "invalid_type", "must be an integer");
    }
}
