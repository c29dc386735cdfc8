#include "store/retention.h"

#include "engine/sql.h"
#include "store/deed.h"

static struct parameter days_or_null(int64_t days) {
    return days == RETENTION_FOR_EVER ? NO_INTEGER : INTEGER(days);
}

static int64_t read_days(struct statement *s, int column) {
    return column_is_null(s, column) ? RETENTION_FOR_EVER : column_integer(s, column);
}

enum store_result store_find_retention(struct store *store, const char *user_id,
                                       struct store_retention *retention) {
    static struct statement s = {
        .sql = "SELECT message_days, raw_days FROM retention WHERE user_id = ?1"};
    *retention = (struct store_retention){.user_id = user_id};
    sql_start(store, &s, TEXT(user_id));
    if (sql_row(store, &s)) {
        retention->message_days = read_days(&s, 0);
        retention->raw_days = read_days(&s, 1);
        sql_stop(&s);
    }
    return sql_result(store);
}

enum store_result store_set_retention(struct store *store, const struct store_retention *retention,
                                      int64_t now) {
    static struct statement set = {
        .sql = "INSERT INTO retention (user_id, message_days, raw_days, walk_at, place_at, "
               "place_id) VALUES (?1, ?2, ?3, ?4, 0, '') ON CONFLICT (user_id) DO UPDATE "
               "SET message_days = excluded.message_days, raw_days = excluded.raw_days, "
               "walk_at = excluded.walk_at, place_at = 0, place_id = '', place_account = NULL"};
    while (sql_transact(store))
        if (sql_run(store, &set, TEXT(retention->user_id), days_or_null(retention->message_days),
                    days_or_null(retention->raw_days), INTEGER(now)))
            store_trail(store, retention->user_id, NULL);
    return sql_result(store);
}

enum store_result store_list_retention(struct store *store, struct arena *arena,
                                       struct store_retention **rows, size_t *count) {
    static struct statement s = {
        .sql = "SELECT u.id, u.email, r.message_days, r.raw_days FROM retention r "
               "JOIN \"user\" u ON u.id = r.user_id WHERE u.deleted_at IS NULL "
               "AND (r.message_days IS NOT NULL OR r.raw_days IS NOT NULL) ORDER BY u.email"};
    struct buffer found = buffer_in(arena);
    sql_start(store, &s);
    while (sql_row(store, &s)) {
        const struct store_retention row = {.user_id = column_text(&s, 0, arena),
                                            .email = column_text(&s, 1, arena),
                                            .message_days = read_days(&s, 2),
                                            .raw_days = read_days(&s, 3)};
        buffer_add(&found, &row, sizeof row);
    }
    *rows = (struct store_retention *)(void *)found.p;
    *count = found.n / sizeof **rows;
    return sql_result(store);
}

/* --- holds --- */

/* The contact of a hold, or the one that it was merged into. */
struct held {
    char id[ID_SIZE], account_id[ID_SIZE], user_id[ID_SIZE];
};

static bool find_held(struct store *store, const struct store_hold *hold, struct held *held) {
    static struct statement s = {
        .sql = "SELECT c.id, c.account_id, a.user_id FROM contact c "
               "JOIN account a ON a.id = c.account_id WHERE c.id = ?1 "
               "AND (a.user_id = ?2 OR ?2 IS NULL) UNION ALL "
               "SELECT m.contact_id, m.account_id, a.user_id FROM contact_merge m "
               "JOIN account a ON a.id = m.account_id WHERE m.merged_id = ?1 "
               "AND (a.user_id = ?2 OR ?2 IS NULL) LIMIT 1"};
    sql_start(store, &s, TEXT(hold->contact_id), TEXT(hold->user_id));
    if (!sql_row(store, &s))
        return false;
    column_id(&s, 0, held->id);
    column_id(&s, 1, held->account_id);
    column_id(&s, 2, held->user_id);
    sql_stop(&s);
    return true;
}

/* Writes the hold, and reads what it is then; false: the contact is gone, or being erased. */
static bool write_hold(struct store *store, struct store_hold *hold, const struct held *held) {
    static struct statement s = {
        .sql = "UPDATE contact SET held_at = CASE WHEN ?2 <> 0 THEN coalesce(held_at, ?3) END "
               "WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM erasure e WHERE e.contact_id = ?1 "
               "AND e.ended_at IS NULL) RETURNING held_at"};
    bool found = false;
    sql_start(store, &s, TEXT(held->id), INTEGER(hold->is_held), INTEGER(hold->now));
    while (sql_row(store, &s)) {
        hold->held_at = column_time(&s, 0);
        found = true;
    }
    return found && !sql_failed(store);
}

enum store_result store_hold_contact(struct store *store, struct store_hold *hold) {
    struct held held;
    bool found = false;
    while (sql_transact(store)) {
        const char *const name = held.id;
        found = find_held(store, hold, &held);
        if (!found)
            continue;
        /* what deletes of it has the same lock */
        sql_lock(store, LOCK_CONTACT, held.account_id, &name, 1);
        found = write_hold(store, hold, &held) && store_trail(store, held.user_id, held.id);
    }
    return sql_found(store, found);
}

enum store_result store_find_hold(struct store *store, const char *contact_id, int64_t *held_at) {
    static struct statement s = {.sql = "SELECT held_at FROM contact WHERE id = ?1"};
    *held_at = INT64_MAX;
    sql_start(store, &s, TEXT(contact_id));
    if (sql_row(store, &s)) {
        *held_at = column_time(&s, 0);
        sql_stop(&s);
    }
    return sql_result(store);
}

/* --- removals --- */

enum store_result store_list_removals(struct store *store, struct arena *arena,
                                      const struct store_view *view, int64_t after, size_t limit,
                                      struct store_removal **rows, size_t *count) {
    static struct statement s = {
        .sql = "SELECT thread_id, before_at, changed FROM thread_removal WHERE user_id = ?1 "
               "AND changed > ?2 ORDER BY changed LIMIT ?3"};
    static struct statement of_view = {
        .sql = "SELECT thread_id, before_at, changed FROM thread_removal r WHERE user_id = ?1 "
               "AND changed > ?2 AND NOT EXISTS (SELECT 1 FROM thread t WHERE t.id = r.thread_id "
               "AND NOT (" IN_VIEW("?4", "t.line_id", "?5",
                                   "t.assignee_id") ")) "
                                                    "ORDER BY changed LIMIT ?3"};
    const struct parameter parameters[] = {TEXT(view->user_id), INTEGER(after),
                                           INTEGER((int64_t)limit), TEXT(view->line_ids),
                                           TEXT(view->own_id)};
    const bool is_whole = view_is_whole(view);
    struct statement *wanted = is_whole ? &s : &of_view;
    struct buffer found = buffer_in(arena);
    sql_start_with(store, wanted, parameters, is_whole ? 3 : 5);
    while (sql_row(store, wanted)) {
        const struct store_removal row = {column_text(wanted, 0, arena), column_time(wanted, 1),
                                          column_integer(wanted, 2)};
        buffer_add(&found, &row, sizeof row);
    }
    *rows = (struct store_removal *)(void *)found.p;
    *count = found.n / sizeof **rows;
    return sql_result(store);
}
