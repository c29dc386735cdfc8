#include "store/listing.h"

#include "engine/row.h"

enum store_result store_find_user(struct store *store, const char *email, char id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT id FROM \"user\" WHERE email = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(email));
    bool found = sql_read_id(store, &s, id);
    return sql_found(store, found);
}

#define OF(member) ROW_MEMBER(struct store_user_entry, member)
static const struct row_layout user_layout =
    ROW_LAYOUT(struct store_user_entry, OF(id), OF(email), OF(default_account_id), OF(created_at));
static const struct row_layout plan_layout = ROW_LAYOUT(
    struct store_plan, ROW_MEMBER(struct store_plan, name), ROW_MEMBER(struct store_plan, is_addon),
    ROW_TIME_MEMBER(struct store_plan, ends_at));

enum store_result store_list_users(struct store *store, struct arena *arena,
                                   struct store_user_entry **users, size_t *count) {
    static struct statement s = {
        .sql = "SELECT u.id, u.email, u.default_account_id, u.created_at, p.name, p.is_addon, "
               "p.ends_at FROM \"user\" u LEFT JOIN plan p ON p.user_id = u.id "
               "WHERE u.deleted_at IS NULL ORDER BY u.id, p.is_addon, p.name"};
    struct buffer rows = buffer_in(arena), plans = buffer_in(arena);
    sql_start_with(store, &s, NULL, 0);
    struct store_user_entry user = {.plan_count = 0}, *last = NULL;
    struct store_plan plan;
    while (sql_row(store, &s)) {
        row_read(&s, 0, arena, &user_layout, &user);
        row_read(&s, user_layout.count, arena, &plan_layout, &plan);
        if (!last || strcmp(user.id, last->id) != 0) {
            buffer_add(&rows, &user, sizeof user);
            last = (struct store_user_entry *)(void *)(rows.p + rows.n - sizeof user);
        }
        if (!plan.name)
            continue;
        buffer_add(&plans, &plan, sizeof plan);
        last->plan_count++;
    }
    *users = buffer_array(&rows, sizeof user, count);
    const struct store_plan *next = (const struct store_plan *)(const void *)plans.p;
    for (size_t i = 0; i < *count; i++)
        if ((*users)[i].plan_count) {
            (*users)[i].plans = next;
            next += (*users)[i].plan_count;
        }
    return sql_result(store);
}
