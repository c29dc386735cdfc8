/* Rows of the table campaign_recipient, for clients. */
#include "engine/sql.h"
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
