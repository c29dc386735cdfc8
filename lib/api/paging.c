#include "api/paging.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "api/state.h"
#include "base/crypto.h"
#include "base/id.h"
#include "base/utf8.h"

/* --- cursors --- */

int cursor_fail(struct request *rq, const char *name) {
    return fail_on_issue(rq, name, "invalid_value",
                         "must be a cursor that this list returned; leave it out to begin anew");
}

static char *encode(struct arena *arena, struct slice plain) {
    char *text = crypto_base64(arena, plain.p, plain.n);
    for (char *p = text; *p; p++) {
        *p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
        if (*p == '=')
            *p-- = '\0';
    }
    return text;
}

static struct slice decode(struct arena *arena, struct slice text) {
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
    return encode(arena, buffer_slice(&plain));
}

int cursor_read(struct request *rq, const char *name, const char *list, const char **parts,
                size_t count) {
    struct slice given = query_get(&rq->query, name);
    if (!given.p)
        return 0;
    struct slice rest = decode(rq->arena, given);
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

/* --- pages --- */

enum { LONGEST_CURSOR = 4 * ((ID_SIZE - 1 + 2) / 3) }; /* of an id in base64 */

size_t paging_limit(const struct request *rq) {
    return (size_t)query_integer(&rq->query, "limit", PAGING_PRESET);
}

int paging_fail(struct request *rq) {
    return fail_on_issue(rq, "after", "invalid_value",
                         "must be a cursor of an answer of this route");
}

int paging_after(struct request *rq, const char *prefix, const char **after) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const struct slice cursor = query_get(&rq->query, "after");
    struct slice id = {NULL, 0};
    *after = NULL;
    if (!cursor.p)
        return 0;
    if (cursor.n <= LONGEST_CURSOR && !memchr(cursor.p, '+', cursor.n) &&
        !memchr(cursor.p, '/', cursor.n) && !memchr(cursor.p, '=', cursor.n))
        id = decode(rq->arena, cursor);
    const char *text = arena_copy(rq->arena, id);
    if (id.n <= strlen(prefix) || id.n >= ID_SIZE || strspn(text, allowed) != id.n ||
        strncmp(text, prefix, strlen(prefix)) != 0)
        return paging_fail(rq);
    *after = text;
    return 0;
}

int paging_page(struct request *rq, const char *prefix, struct store_page *page) {
    page->limit = paging_limit(rq) + 1;
    return paging_after(rq, prefix, &page->after);
}

bool paging_has_more(const struct request *rq, size_t *count) {
    const bool has_more = *count > paging_limit(rq);
    *count -= has_more;
    return has_more;
}

void paging_start(struct request *rq, struct json_writer *out) {
    reply_start(rq, out);
    json_write_array(out, "items");
}

void paging_write_cursor(struct json_writer *out, const char *after) {
    json_write_object(out, "paging");
    json_write_object(out, "cursors");
    json_write_text(out, "after", after);
    json_write_end(out);
    json_write_end(out);
}

int paging_reply_cursor(struct request *rq, struct json_writer *out, const char *after) {
    json_write_end(out);
    paging_write_cursor(out, after);
    return reply_object(rq, out);
}

int paging_reply(struct request *rq, struct json_writer *out, const char *last) {
    return paging_reply_cursor(rq, out, last ? encode(rq->arena, slice_of(last)) : NULL);
}

int paging_reply_csv(struct request *rq, const char *name, struct slice head,
                     paging_csv_page *add_page, void *list) {
    struct arena arena;
    enum store_result result = STORE_OK;
    bool more = true;
    reply_header(rq, "Content-Disposition",
                 arena_printf(rq->arena, "attachment; filename=\"%s.csv\"", name));
    if (reply_stream(rq, 200, "text/csv; charset=utf-8; header=present", -1) || rq->head ||
        reply_more(rq, head))
        return 0;
    arena_init(&arena, rq->arena->cap, rq->arena->exhausted);
    for (; more && result == STORE_OK; arena_reset(&arena)) {
        struct buffer lines = buffer_in(&arena);
        result = add_page(rq, list, &lines, &more);
        if (lines.n && reply_more(rq, buffer_slice(&lines)))
            more = false;
    }
    arena_free(&arena);
    if (result == STORE_OK)
        return 0;
    reply_more(rq, SLICE("#ERROR: the list is incomplete; request it again\r\n"));
    return state_fail(rq, result);
}
