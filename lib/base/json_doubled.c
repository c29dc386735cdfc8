/* The search for names that stand twice in an object; declared in json.h. */
#include <stdlib.h>

#include "base/json.h"

static int compare(const void *a, const void *b) {
    const struct slice *left = a, *right = b;
    size_t n = left->n < right->n ? left->n : right->n;
    int order = n ? memcmp(left->p, right->p, n) : 0;
    return order ? order : (left->n > right->n) - (left->n < right->n);
}

/* The decoded name; without a copy when it has no escapes. */
static struct slice name_of(struct json member, struct arena *arena) {
    struct slice raw = json_raw_name(member);
    return raw.n && memchr(raw.p, '\\', raw.n) ? json_name(member, arena) : raw;
}

static struct slice doubled_here(struct json object, struct arena *arena) {
    size_t count = json_count(object), n = 0;
    if (json_type(object) != JSON_OBJECT || count < 2)
        return (struct slice){NULL, 0};
    struct slice *names = arena_alloc(arena, count * sizeof *names);
    for (struct json m = json_first(object); json_is(m); m = json_next(m))
        names[n++] = name_of(m, arena);
    qsort(names, n, sizeof *names, compare);
    for (size_t i = 1; i < n; i++)
        if (slice_equal(names[i - 1], names[i]))
            return (struct slice){names[i].n ? names[i].p : "", names[i].n};
    return (struct slice){NULL, 0};
}

/* The depth of the recursion is at most JSON_MAX_DEPTH. */
struct slice json_doubled_name(struct json value, struct arena *arena) {
    struct slice found = doubled_here(value, arena);
    for (struct json i = json_first(value); !found.p && json_is(i); i = json_next(i))
        found = json_doubled_name(json_alone(i), arena);
    return found;
}
