#include "store/deed.h"

#include <string.h>

#include "engine/row.h"
#include "store/chore.h"

enum { ROWS_AT_ONCE = 500 }; /* that are deleted in one transaction */

/* A process serves one request at a time. */
static struct store_deed *present;

void store_begin_deed(struct store_deed *deed) {
    present = deed;
}

void store_name_actor(const char *id, const char *name) {
    if (present) {
        present->actor = id;
        present->actor_name = name;
    }
}

static const struct row_layout object_layout =
    ROW_LAYOUT(struct deed_object, ROW_MEMBER(struct deed_object, name),
               ROW_MEMBER(struct deed_object, email));

static void read_object(struct store *store, struct store_deed *deed, const char *object_id) {
    static struct {
        const char *prefix;
        struct statement find;
    } kinds[] = {
        {"mbr_", {.sql = "SELECT name, email FROM member WHERE id = ?1"}},
        {"tok_", {.sql = "SELECT name, NULL FROM scoped_token WHERE id = ?1"}},
        {"inv_", {.sql = "SELECT NULL, email FROM invitation WHERE id = ?1"}},
    };
    deed->object = (struct deed_object){NULL, NULL};
    for (size_t i = 0; object_id && i < sizeof kinds / sizeof *kinds; i++) {
        struct statement *s = &kinds[i].find;
        if (!slice_starts(slice_of(object_id), slice_of(kinds[i].prefix)))
            continue;
        sql_start(store, s, TEXT(object_id));
        row_find(store, s, deed->arena, &object_layout, &deed->object);
    }
}

bool store_trail(struct store *store, const char *user_id, const char *object_id) {
    static struct statement s = {
        .sql = "INSERT INTO trail (id, user_id, at, actor, actor_name, action, object_id, details, "
               "address, request_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
               "ON CONFLICT (id) DO NOTHING"};
    struct store_deed *deed = present;
    if (!deed)
        return !sql_failed(store);
    if (deed->describe) {
        read_object(store, deed, object_id);
        deed->describe(deed);
    }
    const char *action = deed->other_action ? deed->other_action : deed->action;
    if (!sql_run(store, &s, TEXT(deed->id), TEXT(user_id), INTEGER(deed->now), TEXT(deed->actor),
                 TEXT(deed->actor_name), TEXT(action), TEXT(object_id), TEXT(deed->details),
                 TEXT(deed->address), TEXT(deed->request_id)))
        return false;
    if (deed->is_left)
        *deed->is_left = true;
    return true;
}

bool store_trail_as(struct store *store, const char *user_id, const char *object_id,
                    const char *action) {
    if (present)
        present->other_action = action;
    return store_trail(store, user_id, object_id);
}

bool store_trail_to(struct store *store, const char *user_id, const char *object_id,
                    const struct actor *to) {
    if (present)
        present->to = to;
    return store_trail(store, user_id, object_id);
}

bool store_trail_limits(struct store *store, const char *user_id, const char *object_id,
                        const struct lines_change *lines, const struct own_change *own) {
    if (present) {
        present->lines = lines;
        present->own = own;
    }
    const bool is_left = store_trail(store, user_id, object_id);
    if (present) { /* they live as long as this call */
        present->lines = NULL;
        present->own = NULL;
    }
    return is_left;
}

enum store_result store_leave_trail(struct store *store, const char *user_id,
                                    const char *object_id) {
    while (sql_transact(store))
        store_trail(store, user_id, object_id);
    return sql_result(store);
}

#define ROWS                                                                                       \
    "SELECT id, at, actor, actor_name, action, object_id, details, address, request_id "           \
    "FROM trail WHERE user_id = ?1 AND id < ?2 "
#define OF(member) ROW_MEMBER(struct store_trail_row, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_trail_row, OF(id), OF(at), OF(actor), OF(actor_name), OF(action),
               OF(object_id), OF(details), OF(address), OF(request_id));

#define NEWEST "ORDER BY id DESC LIMIT ?3"

enum { SHARED = 3, CONDITIONS = 3 }; /* parameters of each statement, and of the conditions */

/* The index of the first condition, which an index answers: object, actor or action. */
static size_t first_condition(const struct store_trail_filter *filter) {
    return filter->object_id ? 0 : filter->actor ? 1 : filter->action ? 2 : CONDITIONS;
}

enum store_result store_list_trail(struct store *store, struct arena *arena,
                                   const struct store_trail_filter *filter,
                                   struct store_trail_row **rows, size_t *count) {
    static struct statement statements[] = {
        {.sql = ROWS "AND object_id = ?4 AND (actor = ?5 OR ?5 IS NULL) "
                     "AND (action = ?6 OR ?6 IS NULL) " NEWEST},
        {.sql = ROWS "AND actor = ?4 AND (action = ?5 OR ?5 IS NULL) " NEWEST},
        {.sql = ROWS "AND action = ?4 " NEWEST},
        {.sql = ROWS NEWEST},
    };
    const struct parameter conditions[] = {TEXT(filter->object_id), TEXT(filter->actor),
                                           TEXT(filter->action)};
    struct parameter parameters[SHARED + CONDITIONS] = {
        TEXT(filter->user_id), TEXT(filter->before ? filter->before : "trm"),
        INTEGER((int64_t)filter->limit)};
    const size_t first = first_condition(filter), used = CONDITIONS - first;
    struct statement *s = &statements[first];
    memcpy(parameters + SHARED, conditions + first, used * sizeof *conditions);
    sql_start_with(store, s, parameters, SHARED + used);
    *rows = row_list(store, s, arena, &layout, count);
    return sql_result(store);
}

enum store_result store_delete_old_trail(struct store *store, int64_t before, size_t *removed) {
    static struct statement find = {.sql = "SELECT 1 FROM trail WHERE at < ?1 ORDER BY at LIMIT 1"};
    static struct statement old = {
        .sql = "DELETE FROM trail WHERE id IN (SELECT id FROM trail WHERE at < ?1 "
               "ORDER BY at LIMIT ?2)"};
    const struct parameter parameters[] = {INTEGER(before), INTEGER(ROWS_AT_ONCE)};
    return chore_do(store, &(struct chore){&find, &old, parameters, 1, 2}, removed);
}
