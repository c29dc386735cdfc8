#include "store/backlog.h"

#include "engine/sql.h"

enum store_result store_count_backlog(struct store *store, struct store_backlog *backlog) {
    static struct statement pending = {
        .sql = "SELECT count(*), min(id) FROM "
               "(SELECT id FROM event WHERE state = 'pending' LIMIT ?1) AS pending"};
    static struct statement creation = {.sql = "SELECT created_at FROM event WHERE id = ?1"};
    char oldest[ID_SIZE] = ""; /* the smallest id: ids sort by the time of creation */
    *backlog = (struct store_backlog){.oldest_at = INT64_MAX};
    store_hold_view(store);
    sql_start(store, &pending, INTEGER(STORE_BACKLOG_MOST));
    sql_read_one(store, &pending, NULL, TO_INTEGER(&backlog->count), TO_ID(oldest));
    if (*oldest) {
        sql_start(store, &creation, TEXT(oldest));
        sql_read_one(store, &creation, NULL, TO_INTEGER(&backlog->oldest_at));
    }
    store_release_view(store);
    return sql_result(store);
}
