/* Rows of the table sender_streak. */
#include "store/outgoing/outgoing_row.h"

bool outgoing_write_streaks(struct store *store, const struct outgoing_streak *streaks) {
    static struct statement set = {
        .sql = "INSERT INTO sender_streak (name, kind, count) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, count = excluded.count"};
    static struct statement end = {.sql = "DELETE FROM sender_streak WHERE name = ?1"};
    for (size_t i = 0; streaks && i < OUTGOING_STREAKS; i++) {
        const struct outgoing_streak *s = &streaks[i];
        if (!s->name)
            continue;
        if (!(s->count
                  ? sql_run_later(store, &set, TEXT(s->name), INTEGER(s->kind), INTEGER(s->count))
                  : sql_run_later(store, &end, TEXT(s->name))))
            return false;
    }
    return true;
}

#define OF(member) ROW_MEMBER(struct outgoing_streak, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct outgoing_streak, OF(name), OF(kind), OF(count));

enum store_result store_list_streaks(struct store *store, struct arena *arena, size_t limit,
                                     struct outgoing_streak **streaks, size_t *count) {
    static struct statement s = {
        .sql = "SELECT s.name, s.kind, s.count FROM sender_streak s "
               "LEFT JOIN campaign c ON c.id = s.name WHERE c.finished_at IS NULL LIMIT ?1"};
    sql_start(store, &s, INTEGER((int64_t)limit));
    *streaks = row_list(store, &s, arena, &layout, count);
    return sql_result(store);
}
