#include "store/event_admin.h"

#include "store/sql.h"

/* Lists the emails of the users whose webhook is suspended, and locks the users until the
 * transaction ends. */
static void lock_suspended(struct store *store, struct arena *arena, struct buffer *emails) {
    static struct statement s = {.sql = "SELECT u.email, u.id FROM webhook w JOIN \"user\" u "
                                        "ON u.id = w.user_id WHERE w.suspended_at IS NOT NULL "
                                        "ORDER BY u.email"};
    struct buffer ids = buffer_in(arena);
    sql_start_with(store, &s, NULL, 0);
    while (sql_row(store, &s)) {
        const char *email = column_text(&s, 0, arena), *id = column_text(&s, 1, arena);
        buffer_add(emails, &email, sizeof email);
        buffer_add(&ids, &id, sizeof id);
    }
    if (ids.n)
        sql_lock(store, LOCK_USER, NULL, (const char *const *)(void *)ids.p,
                 ids.n / sizeof(char *));
}

enum store_result store_resume_webhooks(struct store *store, struct arena *arena, int64_t now,
                                        const char *const **emails, size_t *count) {
    static struct statement drain = {
        .sql = "UPDATE event SET next_attempt_at = ?1 "
               "WHERE state = 'pending' AND next_attempt_at > ?1 "
               "AND user_id IN (SELECT user_id FROM webhook WHERE suspended_at IS NOT NULL)"};
    static struct statement resume = {
        .sql = "UPDATE webhook SET suspended_at = NULL, failing_since = NULL, "
               "next_probe_at = NULL, updated_at = ?1 WHERE suspended_at IS NOT NULL"};
    struct buffer rows = buffer_in(arena);
    if (sql_begin(store)) {
        lock_suspended(store, arena, &rows);
        if (sql_run(store, &drain, INTEGER(now)))
            sql_run(store, &resume, INTEGER(now));
    }
    *emails = (const char *const *)(void *)rows.p;
    *count = rows.n / sizeof **emails;
    return sql_commit(store);
}

enum store_result store_upsert_wants_message_status(struct store *store, const char *email,
                                                    bool wanted, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO webhook (user_id, wants_message_status, updated_at) "
               "SELECT id, ?2, ?3 FROM \"user\" WHERE email = ?1 AND deleted_at IS NULL "
               "ON CONFLICT (user_id) DO UPDATE "
               "SET wants_message_status = excluded.wants_message_status"};
    bool found = sql_begin(store) &&
                 sql_run(store, &s, TEXT(email), INTEGER(wanted), INTEGER(now)) &&
                 sql_changes(store) > 0;
    enum store_result result = sql_commit(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}
