#include "engine/sql.h"
#include "store/backlog.h"

enum store_result store_count_outgoing(struct store *store, int64_t now,
                                       struct store_outgoing_backlog *backlog) {
    static struct statement s = {
        .sql = "SELECT count(CASE WHEN state = 'queued' AND next_at <= ?1 THEN 1 END), "
               "count(CASE WHEN state = 'queued' AND next_at > ?1 THEN 1 END), "
               "count(CASE WHEN state = 'sending' THEN 1 END), "
               "min(CASE WHEN state = 'queued' AND next_at <= ?1 THEN next_at END) "
               "FROM (SELECT state, next_at FROM outgoing WHERE finished_at IS NULL "
               "ORDER BY expires_at LIMIT ?2) AS waiting"};
    *backlog = (struct store_outgoing_backlog){.oldest_at = INT64_MAX};
    sql_start(store, &s, INTEGER(now), INTEGER(STORE_BACKLOG_MOST));
    if (sql_row(store, &s)) {
        backlog->due = column_integer(&s, 0);
        backlog->scheduled = column_integer(&s, 1);
        backlog->sending = column_integer(&s, 2);
        backlog->oldest_at = column_time(&s, 3);
        sql_stop(&s);
    }
    return sql_result(store);
}
