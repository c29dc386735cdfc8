#include "store/line.h"

#include "engine/row.h"
#include "store/deed.h"

#define OF(member) ROW_MEMBER(struct line, member)
const struct row_layout line_layout =
    ROW_LAYOUT(struct line, OF(id), OF(account_id), OF(phone_number_id), OF(phone_number), OF(name),
               OF(platform_type), OF(is_registered), OF(is_coexisting), OF(created_at),
               ROW_TIME_MEMBER(struct line, archived_at), OF(send_rate));

#define LINES                                                                                      \
    "SELECT " LINE_COLUMNS ", u.primary_line_id = l.id FROM account a "                            \
    "JOIN line l ON l.account_id = a.id JOIN \"user\" u ON u.id = a.user_id "

static struct line read_line(struct statement *s, struct arena *arena) {
    struct line line = {.is_primary = false};
    row_read(s, 0, arena, &line_layout, &line);
    line.is_primary = column_integer(s, line_layout.count) != 0;
    return line;
}

enum store_result store_list_lines(struct store *store, struct arena *arena,
                                   const struct line_filter *filter, struct line **lines,
                                   size_t *count) {
    static struct statement of_all = {.sql = LINES "ORDER BY l.id"};
    static struct statement of_account = {.sql = LINES "WHERE l.account_id = ?1 ORDER BY l.id"};
    static struct statement of_user = {
        .sql = LINES "WHERE a.user_id = ?2 AND (a.id = ?1 OR ?1 IS NULL) ORDER BY l.id"};
    const struct parameter parameters[] = {TEXT(filter->account_id),
                                           TEXT(filter->view ? filter->view->user_id : NULL)};
    const size_t parameter_count = filter->view ? 2 : filter->account_id ? 1 : 0;
    struct statement *const statements[] = {&of_all, &of_account, &of_user};
    struct statement *s = statements[parameter_count];
    struct buffer rows = buffer_in(arena);
    sql_start_with(store, s, parameters, parameter_count);
    while (sql_row(store, s)) {
        const struct line line = read_line(s, arena);
        if ((!filter->is_without_archived || line.archived_at == INT64_MAX) &&
            (!filter->view || view_has_line(filter->view, line.id)))
            buffer_add(&rows, &line, sizeof line);
    }
    *lines = buffer_array(&rows, sizeof **lines, count);
    return sql_result(store);
}

enum store_result store_find_line_by_id(struct store *store, struct arena *arena,
                                        const struct store_view *view, const char *line_id,
                                        struct line *line) {
    static struct statement s = {.sql = LINES "WHERE a.user_id = ?1 AND l.id = ?2"};
    sql_start(store, &s, TEXT(view->user_id), TEXT(line_id));
    bool found = sql_row(store, &s);
    if (found) {
        *line = read_line(&s, arena);
        sql_stop(&s);
    }
    return sql_found(store, found && view_has_line(view, line->id));
}

/* Whether the user has the line, and whether it is archived. */
static bool is_owned(struct store *store, const char *user_id, const char *line_id,
                     bool *is_archived) {
    static struct statement s = {.sql =
                                     "SELECT l.archived_at FROM line l JOIN account a "
                                     "ON a.id = l.account_id WHERE l.id = ?1 AND a.user_id = ?2"};
    sql_start(store, &s, TEXT(line_id), TEXT(user_id));
    const bool found = sql_row(store, &s);
    *is_archived = found && !column_is_null(&s, 0);
    sql_stop(&s);
    return found;
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
        if (found && !conflicts && write_change(store, user_id, line_id, change))
            store_trail(store, user_id, line_id);
    }
    enum store_result result = sql_result(store);
    if (result != STORE_OK)
        return result;
    return conflicts ? STORE_CONFLICT : found ? STORE_OK : STORE_NOT_FOUND;
}
