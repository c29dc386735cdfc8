#include "api/paging.h"

#include "api/list_cursor.h"
#include "base/id.h"

enum { LONGEST_CURSOR = 4 * ((ID_SIZE - 1 + 2) / 3) }; /* of an id in base64 */

size_t paging_limit(const struct request *rq) {
    return (size_t)query_integer(&rq->query, "limit", PAGING_PRESET);
}

/* Decodes the cursor of an id; p == NULL when it is none. */
static struct slice decode(struct arena *arena, struct slice cursor) {
    if (cursor.n > LONGEST_CURSOR || memchr(cursor.p, '+', cursor.n) ||
        memchr(cursor.p, '/', cursor.n) || memchr(cursor.p, '=', cursor.n))
        return (struct slice){NULL, 0};
    return cursor_decode(arena, cursor);
}

int paging_fail(struct request *rq) {
    struct issues issues;
    request_start_issues(rq, &issues);
    issues_add(&issues, "after", "invalid_value", "must be a cursor of an answer of this route");
    return fail_on_issues(rq, &issues);
}

int paging_after(struct request *rq, const char *prefix, const char **after) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const struct slice cursor = query_get(&rq->query, "after");
    *after = NULL;
    if (!cursor.p)
        return 0;
    const struct slice id = decode(rq->arena, cursor);
    if (id.p) {
        const char *text = arena_copy(rq->arena, id);
        if (id.n > strlen(prefix) && id.n < ID_SIZE && strspn(text, allowed) == id.n &&
            strncmp(text, prefix, strlen(prefix)) == 0) {
            *after = text;
            return 0;
        }
    }
    return paging_fail(rq);
}

void paging_start(struct request *rq, struct json_writer *out) {
    json_write_start_object(out, rq->arena);
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
    return reply_data(rq, json_written(out));
}

int paging_reply(struct request *rq, struct json_writer *out, const char *last) {
    return paging_reply_cursor(rq, out, last ? cursor_encode(rq->arena, slice_of(last)) : NULL);
}
