/* Rows of the table campaign_recipient, for clients. */
#include <string.h>

#include "engine/row.h"
#include "store/campaign.h"

enum store_result store_find_first_recipient(struct store *store, struct arena *arena,
                                             const char *id, struct slice *body) {
    static struct statement waiting = {.sql = "SELECT body FROM campaign_recipient "
                                              "WHERE campaign_id = ?1 ORDER BY id LIMIT 1"};
    static struct statement moved = {.sql = "SELECT body FROM outgoing WHERE campaign_id = ?1 "
                                            "AND finished_at IS NULL LIMIT 1"};
    static struct statement sent = {
        .sql = "SELECT m.body FROM outgoing o JOIN message m ON m.line_id = o.line_id "
               "AND m.wamid = o.wamid WHERE o.campaign_id = ?1 AND o.state = 'accepted' LIMIT 1"};
    struct statement *const order[] = {&waiting, &moved, &sent};
    bool found = false;
    for (size_t i = 0; i < sizeof order / sizeof *order && !found; i++) {
        sql_start(store, order[i], TEXT(id));
        found = sql_row(store, order[i]);
        if (found) {
            *body = column_blob(order[i], 0, arena);
            sql_stop(order[i]);
        }
    }
    return sql_found(store, found);
}

/* --- what became of them --- */

#define OF(member)      ROW_MEMBER(struct store_campaign_outcome, member)
#define TIME_OF(member) ROW_TIME_MEMBER(struct store_campaign_outcome, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_campaign_outcome, OF(id), OF(recipient), OF(state), OF(reason),
               OF(error), OF(wamid), OF(status), TIME_OF(finished_at), TIME_OF(status_at));

/* What waits when a campaign is cancelled was cancelled with it. */
static struct statement list_waiting = {
    .sql = "SELECT r.id, r.recipient, CASE WHEN c.state = 'cancelled' THEN 'cancelled' "
           "ELSE 'waiting' END, c.reason, NULL, NULL, NULL, c.finished_at, NULL "
           "FROM campaign_recipient r JOIN campaign c ON c.id = r.campaign_id "
           "WHERE r.campaign_id = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3"};
static struct statement list_moved = {
    .sql = "SELECT o.id, o.recipient, o.state, o.reason, "
           "coalesce(m.error, o.delivery_error, o.error), o.wamid, "
           "coalesce(o.delivery, m.status), o.finished_at, m.status_at FROM outgoing o "
           "LEFT JOIN message m ON m.line_id = o.line_id AND m.wamid = o.wamid "
           "WHERE o.campaign_id = ?1 AND o.id > ?2 ORDER BY o.id LIMIT ?3"};

/* Those who wait come first, so that one who moves meanwhile is not missed. */
enum store_result store_list_campaign_outcomes(struct store *store, struct arena *arena,
                                               struct store_campaign_walk *walk, size_t limit,
                                               struct store_campaign_outcome **outcomes,
                                               size_t *count) {
    struct statement *s = walk->has_moved ? &list_moved : &list_waiting;
    sql_start(store, s, TEXT(walk->campaign_id), TEXT(walk->after), INTEGER((int64_t)limit));
    *outcomes = row_list(store, s, arena, &layout, count);
    const enum store_result result = sql_result(store);
    if (result != STORE_OK)
        return result;
    const bool is_last = *count < limit;
    const char *const last = *count && !is_last ? (*outcomes)[*count - 1].id : "";
    memcpy(walk->after, last, strlen(last) + 1);
    walk->is_over = is_last && walk->has_moved;
    walk->has_moved = walk->has_moved || is_last;
    return STORE_OK;
}
