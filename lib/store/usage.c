#include "store/usage.h"

#include "engine/sql.h"

const char *const usage_names[USAGE_MEASURES] = {
    [USAGE_IN] = "in",
    [USAGE_OUT] = "out",
    [USAGE_SENT] = "sent",
    [USAGE_DELIVERED] = "delivered",
    [USAGE_READ] = "read",
    [USAGE_FAILED] = "failed",
    [USAGE_MARKETING] = "marketing",
    [USAGE_UTILITY] = "utility",
    [USAGE_AUTHENTICATION] = "authentication",
    [USAGE_SERVICE] = "service",
};

enum usage_measure usage_find(const char *name) {
    size_t i = 0;
    while (i < USAGE_MEASURES && (!name || strcmp(usage_names[i], name) != 0))
        i++;
    return (enum usage_measure)i;
}

enum store_result store_sum_usage(struct store *store, const char *user_id, const char *line_id,
                                  int64_t first, int64_t length, struct usage_period *periods,
                                  size_t count) {
    static struct statement s = {
        .sql = "SELECT hour, measure, count FROM usage WHERE user_id = ?1 AND hour >= ?2 "
               "AND hour < ?3 AND (line_id = ?4 OR ?4 IS NULL)"};
    struct arena arena;
    arena_init(&arena, 1024 * 1024, NULL);
    sql_start(store, &s, TEXT(user_id), INTEGER(first), INTEGER(first + (int64_t)count * length),
              TEXT(line_id));
    while (sql_row(store, &s)) {
        const enum usage_measure measure = usage_find(column_text(&s, 1, &arena));
        if (measure < USAGE_MEASURES)
            periods[(column_integer(&s, 0) - first) / length].counts[measure] +=
                column_integer(&s, 2);
        arena_reset(&arena);
    }
    arena_free(&arena);
    return sql_result(store);
}

static void note_usage(struct usage_last *last, int64_t hour, enum usage_measure measure,
                       int64_t latest) {
    if (measure != USAGE_OUT && hour > last->webhook)
        last->webhook = hour;
    else if (measure == USAGE_OUT && hour > last->sent && hour <= latest)
        last->sent = hour;
}

enum store_result store_find_last_usage(struct store *store, const char *user_id, int64_t first,
                                        int64_t latest, const struct line *lines, size_t count,
                                        struct usage_last *last) {
    static struct statement s = {.sql = "SELECT line_id, hour, measure FROM usage "
                                        "WHERE user_id = ?1 AND hour >= ?2"};
    struct arena arena;
    for (size_t i = 0; i < count; i++)
        last[i] = (struct usage_last){INT64_MIN, INT64_MIN};
    arena_init(&arena, 1024 * 1024, NULL);
    sql_start(store, &s, TEXT(user_id), INTEGER(first));
    while (sql_row(store, &s)) {
        const char *line_id = column_text(&s, 0, &arena);
        for (size_t i = 0; i < count; i++)
            if (strcmp(lines[i].id, line_id) == 0)
                note_usage(&last[i], column_integer(&s, 1), usage_find(column_text(&s, 2, &arena)),
                           latest);
        arena_reset(&arena);
    }
    arena_free(&arena);
    return sql_result(store);
}

enum store_result store_list_line_usage(struct store *store, struct arena *arena,
                                        const char *user_id, const char *account_id, int days,
                                        int64_t now, struct line **lines, struct usage_last **last,
                                        size_t *count) {
    const int64_t hour = now / USAGE_HOUR_MS;
    enum store_result result = store_list_lines(
        store, arena, &(struct line_filter){.user_id = user_id, .account_id = account_id}, lines,
        count);
    if (result != STORE_OK)
        return result;
    *last = arena_alloc(arena, (*count + 1) * sizeof **last);
    return store_find_last_usage(store, user_id, hour - (int64_t)days * 24, hour, *lines, *count,
                                 *last);
}
