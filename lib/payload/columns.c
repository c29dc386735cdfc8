#include "payload/columns.h"

#include <string.h>

static struct slice trim(struct slice text) {
    while (text.n && text.p[0] == ' ')
        text = slice_skip(text, 1);
    while (text.n && text.p[text.n - 1] == ' ')
        text.n--;
    return text;
}

static const char *find(struct slice text, const char *two) {
    return text.n < 2 ? NULL : memmem(text.p, text.n, two, 2);
}

/* In JSON "{{" stands in strings only. */
void columns_next(struct slice *rest, struct slice *before, struct slice *name) {
    const char *begin = find(*rest, "{{");
    struct slice after = {0};
    const char *end = NULL;
    if (begin) {
        after = slice_skip(*rest, (size_t)(begin - rest->p) + 2);
        end = find(after, "}}");
    }
    if (!end) {
        *before = *rest;
        *name = (struct slice){NULL, 0};
        *rest = (struct slice){rest->p + rest->n, 0};
        return;
    }
    *before = (struct slice){rest->p, (size_t)(begin - rest->p)};
    *name = trim((struct slice){after.p, (size_t)(end - after.p)});
    *rest = slice_skip(after, (size_t)(end - after.p) + 2);
}

size_t columns_find(const struct columns *columns, struct slice name) {
    size_t i = 0;
    while (i < columns->count && !slice_equal(columns->names[i], name))
        i++;
    return i;
}

/* Adds the text as it stands between the quotation marks of a JSON string. */
static void add_escaped(struct buffer *out, struct slice text) {
    struct json_writer writer;
    json_write_start(&writer, out->arena);
    json_write_string(&writer, NULL, text);
    const struct slice quoted = json_written(&writer);
    buffer_add(out, quoted.p + 1, quoted.n - 2);
}

struct slice columns_fill(const struct columns *columns, const struct slice *cells, size_t count,
                          struct slice json, struct buffer *out) {
    struct slice before, name;
    do {
        columns_next(&json, &before, &name);
        buffer_add_slice(out, before);
        const size_t i = name.p ? columns_find(columns, name) : 0;
        if (name.p && (i >= count || !trim(cells[i]).n))
            return name;
        if (name.p)
            add_escaped(out, cells[i]);
    } while (name.p);
    return name;
}

struct slice columns_of_object(struct arena *arena, struct json object, struct columns *columns,
                               const struct slice **cells) {
    const size_t count = json_count(object);
    struct slice *names = arena_alloc(arena, (count + 1) * sizeof *names),
                 *values = arena_alloc(arena, (count + 1) * sizeof *values);
    struct slice wrong = {NULL, 0};
    size_t n = 0;
    for (struct json value = json_first(object); json_is(value); value = json_next(value), n++) {
        names[n] = json_name(value, arena);
        values[n] = json_type(value) == JSON_NUMBER ? json_raw(value) : json_string(value, arena);
        if (!values[n].p && !wrong.p)
            wrong = names[n];
    }
    *columns = (struct columns){names, n};
    *cells = values;
    return wrong;
}
