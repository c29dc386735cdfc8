/* Decoding of query strings; declared in field.h. */
#include <stdlib.h>

#include "base/utf8.h"
#include "web/field.h"

enum { MAX_PARAMETERS = 100 };

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes %XX and `+`. Returns p == NULL and `*error` when the text is invalid. */
static struct slice decode(struct arena *arena, struct slice text, const char **error) {
    char *out = arena_copy(arena, text);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        int high, low;
        if (text.p[i] != '%') {
            out[n++] = text.p[i] == '+' ? ' ' : text.p[i];
        } else if (text.n - i > 2 && (high = hex_digit(text.p[i + 1])) >= 0 &&
                   (low = hex_digit(text.p[i + 2])) >= 0) {
            out[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            *error = "The query string has a % that two hexadecimal digits do not follow; send %25 "
                     "for a percent sign.";
            return (struct slice){NULL, 0};
        }
    }
    out[n] = '\0';
    struct slice decoded = {out, n};
    if (memchr(out, '\0', n) || !utf8_valid(decoded)) {
        *error = "The query string must be percent-encoded UTF-8 text without NUL.";
        return (struct slice){NULL, 0};
    }
    return decoded;
}

int query_read(struct arena *arena, const char *text, struct query *query, const char **error) {
    *query = (struct query){0};
    struct slice rest = slice_of(text);
    if (!rest.n)
        return 0;
    query->values = arena_alloc(arena, MAX_PARAMETERS * sizeof *query->values);
    while (rest.n) {
        struct slice value = slice_cut(&rest, '&');
        if (!value.n)
            continue;
        if (query->count == MAX_PARAMETERS) {
            *error = "The query string has more than 100 parameters.";
            return -1;
        }
        struct slice name = slice_cut(&value, '=');
        struct query_value *row = &query->values[query->count++];
        row->name = decode(arena, name, error);
        row->value = decode(arena, value, error);
        if (!row->name.p || !row->value.p)
            return -1;
    }
    return 0;
}

struct slice query_get(const struct query *query, const char *name) {
    for (size_t i = 0; i < query->count; i++)
        if (slice_equal(query->values[i].name, slice_of(name)))
            return query->values[i].value;
    return (struct slice){NULL, 0};
}

int64_t query_integer(const struct query *query, const char *name, int64_t preset) {
    struct slice value = query_get(query, name);
    return value.p ? strtoll(value.p, NULL, 10) : preset;
}
