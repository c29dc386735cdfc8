#include "api/paging.h"

#include <stdlib.h>

#include "base/crypto.h"
#include "base/id.h"

enum { LONGEST_CURSOR = 4 * ((ID_SIZE - 1 + 2) / 3) }; /* of an id in base64 */

size_t paging_limit(const struct request *rq) {
    struct slice limit = query_get(&rq->query, "limit");
    return limit.p ? strtoul(limit.p, NULL, 10) : PAGING_PRESET;
}

static void replace(char *text, char from, char to) {
    for (; *text; text++)
        if (*text == from)
            *text = to;
}

/* Decodes base64url without padding; p == NULL when it is none. */
static struct slice decode(struct arena *arena, struct slice cursor) {
    static const char *const padding[] = {"", "", "==", "="};
    if (cursor.n > LONGEST_CURSOR || cursor.n % 4 == 1 || memchr(cursor.p, '+', cursor.n) ||
        memchr(cursor.p, '/', cursor.n) || memchr(cursor.p, '=', cursor.n))
        return (struct slice){NULL, 0};
    char *text = arena_printf(arena, "%.*s%s", (int)cursor.n, cursor.p, padding[cursor.n % 4]);
    replace(text, '-', '+');
    replace(text, '_', '/');
    return crypto_unbase64(arena, slice_of(text));
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

void paging_write(struct request *rq, struct json_writer *out, const char *last) {
    json_write_object(out, "paging");
    json_write_object(out, "cursors");
    if (last) {
        char *cursor = crypto_base64(rq->arena, last, strlen(last));
        replace(cursor, '+', '-');
        replace(cursor, '/', '_');
        cursor[strcspn(cursor, "=")] = '\0';
        json_write_text(out, "after", cursor);
    }
    json_write_end(out);
    json_write_end(out);
}
