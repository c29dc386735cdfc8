#include "store/line.h"

#include "engine/sql.h"

#define OWNED_LINES                                                                                \
    "SELECT l.id, l.account_id, l.phone_number_id, l.phone_number, l.name, l.platform_type, "      \
    "l.is_registered, l.is_coexisting, u.primary_line_id = l.id, l.created_at, l.archived_at "     \
    "FROM account a JOIN line l ON l.account_id = a.id JOIN \"user\" u ON u.id = a.user_id "       \
    "WHERE a.user_id = ?1 "

static struct owned_line read_line(struct statement *s, struct arena *arena) {
    return (struct owned_line){
        .id = column_text(s, 0, arena),
        .account_id = column_text(s, 1, arena),
        .phone_number_id = column_text(s, 2, arena),
        .phone_number = column_text(s, 3, arena),
        .name = column_text(s, 4, arena),
        .platform_type = column_text(s, 5, arena),
        .is_registered = column_integer(s, 6) != 0,
        .is_coexisting = column_integer(s, 7) != 0,
        .is_primary = column_integer(s, 8) != 0,
        .created_at = column_integer(s, 9),
        .archived_at = column_is_null(s, 10) ? INT64_MIN : column_integer(s, 10),
    };
}

enum store_result store_list_owned_lines(struct store *store, struct arena *arena,
                                         const char *user_id, struct owned_line **lines,
                                         size_t *count) {
    static struct statement s = {.sql = OWNED_LINES "ORDER BY l.id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(user_id));
    while (sql_row(store, &s)) {
        struct owned_line line = read_line(&s, arena);
        buffer_add(&rows, &line, sizeof line);
    }
    *lines = (struct owned_line *)(void *)rows.p;
    *count = rows.n / sizeof **lines;
    return sql_result(store);
}

enum store_result store_find_owned_line(struct store *store, struct arena *arena,
                                        const char *user_id, const char *line_id,
                                        struct owned_line *line) {
    static struct statement s = {.sql = OWNED_LINES "AND l.id = ?2"};
    sql_start(store, &s, TEXT(user_id), TEXT(line_id));
    bool found = sql_row(store, &s);
    if (found) {
        *line = read_line(&s, arena);
        sql_stop(&s);
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

/* Whether the user has the line, and whether it is archived. */
static bool is_owned(struct store *store, const char *user_id, const char *line_id,
                     bool *is_archived) {
    static struct statement s = {.sql =
                                     "SELECT l.archived_at FROM line l JOIN account a "
                                     "ON a.id = l.account_id WHERE l.id = ?1 AND a.user_id = ?2"};
    sql_start(store, &s, TEXT(line_id), TEXT(user_id));
    if (!sql_row(store, &s))
        return false;
    *is_archived = !column_is_null(&s, 0);
    sql_stop(&s);
    return true;
}

static bool write_change(struct store *store, const char *user_id, const char *line_id,
                         const struct line_change *change) {
    static struct statement name = {.sql = "UPDATE line SET name = ?2 WHERE id = ?1"};
    static struct statement primary = {
        .sql = "UPDATE \"user\" SET primary_line_id = ?2 WHERE id = ?1"};
    static struct statement archive = {
        .sql = "UPDATE line SET archived_at = coalesce(archived_at, ?2) WHERE id = ?1"};
    static struct statement restore = {.sql = "UPDATE line SET archived_at = NULL WHERE id = ?1"};
    return (!change->sets_name || sql_run(store, &name, TEXT(line_id), TEXT(change->name))) &&
           (!change->archives || sql_run(store, &archive, TEXT(line_id), INTEGER(change->now))) &&
           (!change->restores || sql_run(store, &restore, TEXT(line_id))) &&
           (!change->makes_primary || sql_run(store, &primary, TEXT(user_id), TEXT(line_id)));
}

enum store_result store_change_line(struct store *store, const char *user_id, const char *line_id,
                                    const struct line_change *change) {
    bool found = false, is_archived = false, conflicts = false;
    while (sql_transact(store)) {
        found = is_owned(store, user_id, line_id, &is_archived);
        conflicts = found && change->makes_primary &&
                    (change->archives || (is_archived && !change->restores));
        if (found && !conflicts)
            write_change(store, user_id, line_id, change);
    }
    enum store_result result = sql_result(store);
    if (result != STORE_OK)
        return result;
    return conflicts ? STORE_CONFLICT : found ? STORE_OK : STORE_NOT_FOUND;
}

enum store_result store_has_line(struct store *store, const char *user_id, const char *line_id) {
    static struct statement s = {.sql =
                                     "SELECT l.id FROM line l JOIN account a "
                                     "ON a.id = l.account_id WHERE l.id = ?1 AND a.user_id = ?2"};
    char id[ID_SIZE];
    sql_start(store, &s, TEXT(line_id), TEXT(user_id));
    bool found = sql_read_id(store, &s, id);
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}
