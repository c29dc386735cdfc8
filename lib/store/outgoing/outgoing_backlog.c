#include "engine/row.h"
#include "store/backlog.h"

#define OF(member) ROW_MEMBER(struct store_outgoing_backlog, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_outgoing_backlog, OF(due), OF(scheduled), OF(sending),
               ROW_TIME_MEMBER(struct store_outgoing_backlog, oldest_at));

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
    row_find(store, &s, NULL, &layout, backlog);
    return sql_result(store);
}
