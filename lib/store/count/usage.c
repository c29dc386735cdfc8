#include "store/usage.h"

#include <stdio.h>

#include "engine/row.h"
#include "engine/tally.h"

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

static int64_t last_hour(struct statement *s, int column) {
    return column_is_null(s, column) ? INT64_MIN : column_integer(s, column);
}

enum store_result store_find_last_usage(struct store *store, const char *user_id, int64_t first,
                                        int64_t latest, const struct line *lines, size_t count,
                                        struct usage_last *last) {
    static struct statement s = {
        .sql = "SELECT l.id, "
               "(SELECT max(u.hour) FROM usage u WHERE u.line_id = l.id AND u.measure = 'out' "
               " AND u.hour >= ?2 AND u.hour <= ?3), "
               "(SELECT max(u.hour) FROM usage u WHERE u.line_id = l.id AND u.measure <> 'out' "
               " AND u.hour >= ?2) "
               "FROM account a JOIN line l ON l.account_id = a.id WHERE a.user_id = ?1 "
               "ORDER BY l.id"};
    size_t at = 0;
    char id[ID_SIZE];
    for (size_t i = 0; i < count; i++)
        last[i] = (struct usage_last){INT64_MIN, INT64_MIN};
    sql_start(store, &s, TEXT(user_id), INTEGER(first), INTEGER(latest));
    while (sql_row(store, &s)) {
        column_id(&s, 0, id);
        while (at < count && strcmp(lines[at].id, id) < 0)
            at++;
        if (at < count && strcmp(lines[at].id, id) == 0)
            last[at] = (struct usage_last){last_hour(&s, 1), last_hour(&s, 2)};
    }
    return sql_result(store);
}

enum store_result store_list_line_usage(struct store *store, struct arena *arena,
                                        const char *user_id, const char *account_id, int days,
                                        int64_t now, struct line **lines, struct usage_last **last,
                                        size_t *count) {
    const int64_t hour = now / USAGE_HOUR_MS;
    enum store_result result = store_list_lines(
        store, arena, &(struct line_filter){.view = WHOLE_VIEW(user_id), .account_id = account_id},
        lines, count);
    if (result != STORE_OK)
        return result;
    *last = arena_alloc(arena, (*count + 1) * sizeof **last);
    return store_find_last_usage(store, user_id, hour - (int64_t)days * 24, hour, *lines, *count,
                                 *last);
}

enum store_result store_count_messages(struct store *store, int64_t now, int64_t *count) {
    static struct statement s = {
        .sql = "SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM ("
               "SELECT u.count AS n FROM line l CROSS JOIN usage u WHERE u.line_id = l.id "
               "AND u.measure = 'out' AND u.hour >= ?1 UNION ALL "
               "SELECT u.count FROM line l CROSS JOIN usage u WHERE u.line_id = l.id "
               "AND u.measure <> 'out' AND u.measure = 'in' AND u.hour >= ?1) AS counted"};
    sql_start(store, &s, INTEGER(now / USAGE_HOUR_MS - 24));
    *count = row_integer(store, &s, 0);
    return sql_result(store);
}

/* --- counting --- */

/* The counts of a line in an hour. */
struct usage_line {
    char user_id[ID_SIZE], line_id[ID_SIZE];
    int64_t hour;
    int64_t counts[USAGE_MEASURES];
};

static int compare_lines(const void *a, const void *b) {
    const struct usage_line *first = a, *second = b;
    const int user = strcmp(first->user_id, second->user_id);
    const int line = user ? user : strcmp(first->line_id, second->line_id);
    return line ? line : (first->hour > second->hour) - (first->hour < second->hour);
}

static bool write_line(struct store *store, void *entry) {
    static struct statement s = {
        .sql = "INSERT INTO usage (user_id, hour, line_id, measure, count) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (user_id, hour, line_id, measure) "
               "DO UPDATE SET count = usage.count + excluded.count"};
    const struct usage_line *line = entry;
    for (size_t i = 0; i < USAGE_MEASURES; i++)
        if (line->counts[i] &&
            !sql_run_later(store, &s, TEXT(line->user_id), INTEGER(line->hour), TEXT(line->line_id),
                           TEXT(usage_names[i]), INTEGER(line->counts[i])))
            return false;
    return true;
}

static struct usage_line room[2 * 64];
static struct tally lines = {
    .name = "usage", TALLY_IN(room), .order = compare_lines, .write = write_line};

bool usage_count(struct store *store, const char *user_id, const char *line_id, int64_t now,
                 enum usage_measure measure) {
    struct usage_line key = {.hour = now / USAGE_HOUR_MS};
    if (measure >= USAGE_MEASURES)
        return true;
    snprintf(key.user_id, ID_SIZE, "%s", user_id);
    snprintf(key.line_id, ID_SIZE, "%s", line_id);
    struct usage_line *line = tally_find(&lines, compare_lines, &key);
    if (!line && !(line = tally_add(store, &lines, &key)))
        return false;
    line->counts[measure]++;
    return true;
}
