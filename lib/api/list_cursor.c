#include "api/list_cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/utf8.h"

int cursor_fail(struct request *rq, const char *name) {
    struct issues issues;
    request_start_issues(rq, &issues);
    issues_add(&issues, name, "invalid_value",
               "must be a cursor that this list returned; leave it out to begin anew");
    return fail_on_issues(rq, &issues);
}

char *cursor_encode(struct arena *arena, struct slice plain) {
    char *text = crypto_base64(arena, plain.p, plain.n);
    for (char *p = text; *p; p++) {
        *p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
        if (*p == '=')
            *p-- = '\0';
    }
    return text;
}

struct slice cursor_decode(struct arena *arena, struct slice text) {
    struct buffer standard = buffer_in(arena);
    for (size_t i = 0; i < text.n; i++)
        buffer_add_char(&standard, text.p[i] == '-' ? '+' : text.p[i] == '_' ? '/' : text.p[i]);
    while (standard.n % 4)
        buffer_add_char(&standard, '=');
    return crypto_unbase64(arena, buffer_slice(&standard));
}

const char *cursor_write(struct arena *arena, const char *const *parts, size_t count) {
    struct buffer plain = buffer_in(arena);
    for (size_t i = 0; i < count; i++)
        buffer_printf(&plain, "%s%s", i ? "\n" : "", parts[i]);
    return cursor_encode(arena, buffer_slice(&plain));
}

int cursor_read(struct request *rq, const char *name, const char *list, const char **parts,
                size_t count) {
    struct slice given = query_get(&rq->query, name);
    if (!given.p)
        return 0;
    struct slice rest = cursor_decode(rq->arena, given);
    if (!rest.n || !utf8_valid(rest) || memchr(rest.p, '\0', rest.n) || rest.p[rest.n - 1] == '\n')
        return cursor_fail(rq, name);
    for (size_t i = 0; i < count; i++) {
        if (!rest.p || (i && !rest.n))
            return cursor_fail(rq, name);
        parts[i] = arena_copy(rq->arena, slice_cut(&rest, '\n'));
    }
    return rest.n || strcmp(parts[0], list) != 0 ? cursor_fail(rq, name) : 1;
}

const char *cursor_write_key(struct arena *arena, const char *list, int64_t number,
                             const char *id) {
    const char *const parts[] = {list, arena_printf(arena, "%" PRId64, number), id};
    return cursor_write(arena, parts, 3);
}

int cursor_read_key(struct request *rq, const char *name, const char *list, int64_t *number,
                    const char **id) {
    const char *parts[3] = {NULL, NULL, NULL};
    char *end;
    int result = cursor_read(rq, name, list, parts, 3);
    if (result != 1)
        return result;
    errno = 0;
    *number = strtoll(parts[1], &end, 10);
    *id = parts[2];
    return errno || *end || end == parts[1] ? cursor_fail(rq, name) : 1;
}
