/* Rows that were written while the clock was ahead. Each would wait until that time comes. */
#include "engine/sql.h"
#include "store/outgoing.h"

enum {
    AHEAD_MS = 60 * 60 * 1000, /* a shorter wait is not corrected */
    ROWS_AT_ONCE = 500
};

/* A row without a sendAt of its own has the time of its creation. Those that have ended stay. */
static bool correct_queued(struct store *store, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET created_at = ?1, "
               "send_at = CASE WHEN send_at > created_at THEN send_at ELSE ?1 END, "
               "next_at = CASE WHEN send_at > created_at THEN send_at ELSE ?1 END, "
               "expires_at = CASE WHEN send_at > created_at THEN expires_at "
               "ELSE expires_at - send_at + ?1 END "
               "WHERE state = 'queued' AND id IN (SELECT id FROM outgoing WHERE id >= ?2 "
               "AND finished_at IS NULL AND created_at > ?1 + ?3 ORDER BY id LIMIT ?4)"};
    char least[ID_SIZE];
    id_least(least, "out_", now + AHEAD_MS);
    return sql_run(store, &s, INTEGER(now), TEXT(least), INTEGER(AHEAD_MS), INTEGER(ROWS_AT_ONCE));
}

static bool correct_reports(struct store *store, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET report_at = ?1 WHERE id IN (SELECT id FROM outgoing "
               "WHERE report_at > ?1 + ?2 ORDER BY report_at LIMIT ?3)"};
    return sql_run(store, &s, INTEGER(now), INTEGER(AHEAD_MS), INTEGER(ROWS_AT_ONCE));
}

/* One transaction for each part: the last one changes nothing. */
static enum store_result correct(struct store *store, bool (*part)(struct store *, int64_t),
                                 int64_t now) {
    int changed = ROWS_AT_ONCE;
    while (changed == ROWS_AT_ONCE) {
        while (sql_transact(store))
            changed = part(store, now) ? sql_changes(store) : 0;
        if (sql_result(store) != STORE_OK)
            return sql_result(store);
    }
    return STORE_OK;
}

enum store_result store_correct_outgoing(struct store *store, int64_t now) {
    const enum store_result result = correct(store, correct_queued, now);
    return result == STORE_OK ? correct(store, correct_reports, now) : result;
}
