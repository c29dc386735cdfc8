#include "store/backlog.h"

#include "engine/row.h"

enum store_result store_count_backlog(struct store *store, struct store_backlog *backlog) {
    static struct statement pending = {
        .sql = "SELECT count(*), min(id) FROM "
               "(SELECT id FROM event WHERE state = 'pending' LIMIT ?1) AS pending"};
    static struct statement creation = {.sql = "SELECT created_at FROM event WHERE id = ?1"};
    char oldest[ID_SIZE] = ""; /* the smallest id: ids sort by the time of creation */
    *backlog = (struct store_backlog){.oldest_at = INT64_MAX};
    store_hold_view(store);
    sql_start(store, &pending, INTEGER(STORE_BACKLOG_MOST));
    if (sql_row(store, &pending)) {
        backlog->count = column_integer(&pending, 0);
        column_id(&pending, 1, oldest);
        sql_stop(&pending);
    }
    if (*oldest) {
        sql_start(store, &creation, TEXT(oldest));
        backlog->oldest_at = row_integer(store, &creation, INT64_MAX);
    }
    store_release_view(store);
    return sql_result(store);
}
