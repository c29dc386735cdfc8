#include "store/retention.h"

#include "engine/row.h"
#include "store/deed.h"

static struct parameter days_or_null(int64_t days) {
    return days == RETENTION_FOR_EVER ? NO_INTEGER : INTEGER(days);
}

/* No limit is stored as NULL, which is read as 0: RETENTION_FOR_EVER. */
#define OF(member) ROW_MEMBER(struct store_retention, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_retention, OF(user_id), OF(email), OF(message_days), OF(raw_days));

enum store_result store_find_retention(struct store *store, const char *user_id,
                                       struct store_retention *retention) {
    static struct statement s = {
        .sql = "SELECT message_days, raw_days FROM retention WHERE user_id = ?1"};
    *retention = (struct store_retention){.user_id = user_id};
    sql_start(store, &s, TEXT(user_id));
    if (sql_row(store, &s)) {
        retention->message_days = column_integer(&s, 0);
        retention->raw_days = column_integer(&s, 1);
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
    sql_start(store, &s);
    *rows = row_list(store, &s, arena, &layout, count);
    return sql_result(store);
}

/* --- holds --- */

/* The contact of a hold, or the one that it was merged into. */
struct held {
    char id[ID_SIZE], account_id[ID_SIZE], user_id[ID_SIZE];
};

#define OF_HELD(member) ROW_MEMBER(struct held, member)
static const struct row_layout held_layout =
    ROW_LAYOUT(struct held, OF_HELD(id), OF_HELD(account_id), OF_HELD(user_id));

static bool find_held(struct store *store, const struct store_hold *hold, struct held *held) {
    static struct statement s = {
        .sql = "SELECT c.id, c.account_id, a.user_id FROM contact c "
               "JOIN account a ON a.id = c.account_id WHERE c.id = ?1 "
               "AND (a.user_id = ?2 OR ?2 IS NULL) UNION ALL "
               "SELECT m.contact_id, m.account_id, a.user_id FROM contact_merge m "
               "JOIN account a ON a.id = m.account_id WHERE m.merged_id = ?1 "
               "AND (a.user_id = ?2 OR ?2 IS NULL) LIMIT 1"};
    sql_start(store, &s, TEXT(hold->contact_id), TEXT(hold->user_id));
    return row_find(store, &s, NULL, &held_layout, held);
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
    sql_start(store, &s, TEXT(contact_id));
    *held_at = row_integer(store, &s, INT64_MAX);
    return sql_result(store);
}

/* --- removals --- */

#define OF_REMOVAL(member) ROW_MEMBER(struct store_removal, member)
static const struct row_layout removal_layout =
    ROW_LAYOUT(struct store_removal, OF_REMOVAL(thread_id),
               ROW_TIME_MEMBER(struct store_removal, before), OF_REMOVAL(change));

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
    sql_start_with(store, wanted, parameters, is_whole ? 3 : 5);
    *rows = row_list(store, wanted, arena, &removal_layout, count);
    return sql_result(store);
}
