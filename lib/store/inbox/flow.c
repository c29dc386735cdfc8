#include "store/flow.h"

#include <ctype.h>

#include "engine/row.h"

/* Returns a copy of the text with its ASCII letters folded by `fold` and other bytes unchanged. */
static char *folded(struct arena *arena, struct slice text, int (*fold)(int)) {
    char *copy = arena_copy(arena, text);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)copy[i] < 0x80)
            copy[i] = (char)fold((unsigned char)copy[i]);
    return copy;
}

enum store_result store_upsert_flows(struct store *store, struct arena *arena,
                                     const char *account_id, const struct store_flow *flows,
                                     size_t count, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO flow (account_id, flow_id, name, name_folded, status, validation, "
               "created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) "
               "ON CONFLICT (account_id, flow_id) DO UPDATE SET name = excluded.name, "
               "name_folded = excluded.name_folded, status = excluded.status, "
               "validation = excluded.validation, updated_at = excluded.updated_at "
               "WHERE flow.name <> excluded.name OR flow.status <> excluded.status "
               "OR flow.validation <> excluded.validation"};
    while (sql_transact(store)) {
        sql_lock(store, LOCK_LISTS, account_id, NULL, 0);
        for (size_t i = 0; i < count && !sql_failed(store); i++) {
            const struct store_flow *flow = &flows[i];
            sql_run(store, &s, TEXT(account_id), TEXT(flow->flow_id), TEXT(flow->name),
                    TEXT(folded(arena, slice_of(flow->name), tolower)), TEXT(flow->status),
                    BLOB(flow->validation), INTEGER(now));
        }
    }
    return sql_result(store);
}

enum store_result store_delete_flow(struct store *store, const char *account_id,
                                    const char *flow_id) {
    static struct statement s = {.sql = "DELETE FROM flow WHERE account_id = ?1 AND flow_id = ?2"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(account_id), TEXT(flow_id));
    return sql_result(store);
}

/* Returns `q` as a LIKE pattern that matches it anywhere, with its wildcards escaped. */
static const char *pattern(struct arena *arena, struct slice q) {
    struct buffer out = buffer_in(arena);
    buffer_add_char(&out, '%');
    for (size_t i = 0; i < q.n; i++) {
        if (strchr("%_\\", q.p[i]))
            buffer_add_char(&out, '\\');
        buffer_add_char(&out, q.p[i]);
    }
    buffer_add_char(&out, '%');
    return buffer_slice(&out).p;
}

#define OF(member) ROW_MEMBER(struct store_flow, member)
static const struct row_layout flow_layout =
    ROW_LAYOUT(struct store_flow, OF(flow_id), OF(account_id), OF(name), OF(status), OF(validation),
               OF(created_at), OF(updated_at), OF(responses));

enum store_result store_search_flows(struct store *store, struct arena *arena, const char *user_id,
                                     const char *account_id, struct slice q, int64_t limit,
                                     struct store_flow **flows, size_t *count) {
    static struct statement s = {
        .sql = "SELECT p.*, coalesce(c.responses, 0) FROM (SELECT f.flow_id, f.account_id, "
               "  f.name, f.status, f.validation, f.created_at, f.updated_at "
               "  FROM account a JOIN flow f ON f.account_id = a.id "
               "  WHERE a.user_id = ?1 AND (a.id = ?2 OR ?2 IS NULL) "
               "  AND (f.name_folded LIKE ?3 ESCAPE '\\' OR f.status = ?4) "
               "  ORDER BY f.updated_at DESC, f.account_id, f.flow_id LIMIT ?5) p "
               "LEFT JOIN flow_reply_count c "
               "ON c.account_id = p.account_id AND c.flow_id = p.flow_id "
               "ORDER BY p.updated_at DESC, p.account_id, p.flow_id"};
    sql_start(store, &s, TEXT(user_id), TEXT(account_id),
              TEXT(pattern(arena, slice_of(folded(arena, q, tolower)))),
              TEXT(folded(arena, q, toupper)), INTEGER(limit));
    *flows = row_list(store, &s, arena, &flow_layout, count);
    return sql_result(store);
}

#define OF_TEMPLATE(member) ROW_MEMBER(struct store_template, member)
static const struct row_layout template_layout = ROW_LAYOUT(
    struct store_template, OF_TEMPLATE(template_id), OF_TEMPLATE(status), OF_TEMPLATE(category),
    OF_TEMPLATE(reason), OF_TEMPLATE(quality), OF_TEMPLATE(status_at), OF_TEMPLATE(quality_at));

enum store_result store_find_templates(struct store *store, struct arena *arena,
                                       const char *account_id, struct store_template *rows,
                                       size_t count) {
    static struct statement s = {
        .sql = "SELECT template_id, status, category, reason, quality, coalesce(status_at, 0), "
               "coalesce(quality_at, 0) FROM template "
               "WHERE account_id = ?1 AND name = ?2 AND language = ?3"};
    for (size_t i = 0; i < count; i++) {
        struct store_template *row = &rows[i];
        sql_start(store, &s, TEXT(account_id), TEXT(row->name), TEXT(row->language));
        row_fill(store, &s, arena, &template_layout, row);
    }
    return sql_result(store);
}

enum store_result store_upsert_template_flows(struct store *store, const char *account_id,
                                              const struct store_template_flow *rows, size_t count,
                                              int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO template (account_id, name, language, flow_id, updated_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (account_id, name, language) DO UPDATE "
               "SET flow_id = excluded.flow_id, updated_at = excluded.updated_at "
               "WHERE template.flow_id IS NULL OR template.flow_id <> excluded.flow_id"};
    while (sql_transact(store)) {
        sql_lock(store, LOCK_LISTS, account_id, NULL, 0);
        for (size_t i = 0; i < count && !sql_failed(store); i++)
            sql_run(store, &s, TEXT(account_id), TEXT(rows[i].name), TEXT(rows[i].language),
                    TEXT(rows[i].flow_id), INTEGER(now));
    }
    return sql_result(store);
}

bool flow_token_upsert(struct store *store, const char *account_id, const char *token,
                       const char *flow_id) {
    static struct statement s = {.sql = "INSERT INTO flow_token (account_id, token, flow_id) "
                                        "VALUES (?1, ?2, ?3) "
                                        "ON CONFLICT (account_id, token) DO UPDATE "
                                        "SET flow_id = excluded.flow_id"};
    return !token || sql_run_later(store, &s, TEXT(account_id), TEXT(token), TEXT(flow_id));
}
