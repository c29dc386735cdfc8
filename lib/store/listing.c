#include "store/listing.h"

#include "engine/sql.h"

/* Returns the last row added, of `size` bytes; NULL when there is none. */
static void *last_row(const struct buffer *rows, size_t size) {
    return rows->n ? rows->p + rows->n - size : NULL;
}

static void *add_row(struct buffer *rows, const void *row, size_t size) {
    buffer_add(rows, row, size);
    return last_row(rows, size);
}

enum store_result store_find_user(struct store *store, const char *email, char id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT id FROM \"user\" WHERE email = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(email));
    bool found = sql_read_id(store, &s, id);
    return sql_found(store, found);
}

static struct store_user_entry *add_user(struct buffer *users, struct statement *s,
                                         struct arena *arena) {
    struct store_user_entry user = {
        .id = column_text(s, 0, arena),
        .email = column_text(s, 1, arena),
        .default_account_id = column_text(s, 2, arena),
        .created_at = column_integer(s, 3),
    };
    return add_row(users, &user, sizeof user);
}

static void add_plan(struct buffer *plans, struct statement *s, struct arena *arena) {
    struct store_plan plan = {
        .name = column_text(s, 4, arena),
        .is_addon = column_integer(s, 5) != 0,
        .ends_at = column_time(s, 6),
    };
    add_row(plans, &plan, sizeof plan);
}

enum store_result store_list_users(struct store *store, struct arena *arena,
                                   struct store_user_entry **users, size_t *count) {
    static struct statement s = {
        .sql = "SELECT u.id, u.email, u.default_account_id, u.created_at, p.name, p.is_addon, "
               "p.ends_at FROM \"user\" u LEFT JOIN plan p ON p.user_id = u.id "
               "WHERE u.deleted_at IS NULL ORDER BY u.id, p.is_addon, p.name"};
    struct buffer rows = buffer_in(arena), plans = buffer_in(arena);
    sql_start_with(store, &s, NULL, 0);
    while (sql_row(store, &s)) {
        struct store_user_entry *user = last_row(&rows, sizeof *user);
        if (!user || strcmp(user->id, column_text(&s, 0, arena)) != 0)
            user = add_user(&rows, &s, arena);
        if (column_is_null(&s, 4))
            continue;
        add_plan(&plans, &s, arena);
        user->plan_count++;
    }
    *users = (struct store_user_entry *)(void *)rows.p;
    *count = rows.n / sizeof **users;
    const struct store_plan *next = (const struct store_plan *)(const void *)plans.p;
    for (size_t i = 0; i < *count; i++)
        if ((*users)[i].plan_count) {
            (*users)[i].plans = next;
            next += (*users)[i].plan_count;
        }
    return sql_result(store);
}
