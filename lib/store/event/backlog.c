#include "store/backlog.h"

#include "engine/sql.h"

/* Ids sort by the time of creation, so the smallest one is that of the oldest event. */
static void count_pending(struct store *store, int64_t *count, char oldest[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT count(*), min(id) FROM "
               "(SELECT id FROM event WHERE state = 'pending' LIMIT ?1) AS pending"};
    *count = 0;
    oldest[0] = '\0';
    sql_start(store, &s, INTEGER(STORE_BACKLOG_MOST));
    if (!sql_row(store, &s))
        return;
    *count = column_integer(&s, 0);
    column_id(&s, 1, oldest);
    sql_stop(&s);
}

static int64_t creation_of(struct store *store, const char *id) {
    static struct statement s = {.sql = "SELECT created_at FROM event WHERE id = ?1"};
    sql_start(store, &s, TEXT(id));
    if (!sql_row(store, &s))
        return INT64_MAX;
    int64_t created_at = column_integer(&s, 0);
    sql_stop(&s);
    return created_at;
}

enum store_result store_count_backlog(struct store *store, struct store_backlog *backlog) {
    char oldest[ID_SIZE];
    store_hold_view(store);
    count_pending(store, &backlog->count, oldest);
    backlog->oldest_at = *oldest ? creation_of(store, oldest) : INT64_MAX;
    store_release_view(store);
    return sql_result(store);
}
