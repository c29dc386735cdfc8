#include "store/listing.h"

#include "engine/sql.h"

enum store_result store_find_user(struct store *store, const char *email, char id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT id FROM \"user\" WHERE email = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(email));
    bool found = sql_read_id(store, &s, id);
    return sql_found(store, found);
}

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
    while (sql_read_row(store, &s, arena, TO_TEXT(&user.id), TO_TEXT(&user.email),
                        TO_TEXT(&user.default_account_id), TO_INTEGER(&user.created_at),
                        TO_TEXT(&plan.name), TO_BOOL(&plan.is_addon), TO_TIME(&plan.ends_at))) {
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
