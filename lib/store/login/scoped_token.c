#include "store/scoped_token.h"

#include "engine/row.h"
#include "store/deed.h"

#define OF(member)      ROW_MEMBER(struct store_scoped_token, member)
#define TIME_OF(member) ROW_TIME_MEMBER(struct store_scoped_token, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_scoped_token, OF(id), OF(name), OF(last4), OF(scopes), OF(created_by),
               OF(created_at), TIME_OF(expires_at), TIME_OF(last_used_at), OF(line_ids));

enum store_result store_list_scoped_tokens(struct store *store, struct arena *arena,
                                           const struct store_view *view,
                                           struct store_scoped_token **list, size_t *count) {
    static struct statement s = {
        .sql = "SELECT id, name, last4, scopes, created_by, created_at, expires_at, "
               "last_used_at, line_ids FROM scoped_token WHERE user_id = ?1 ORDER BY id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(view->user_id));
    while (sql_row(store, &s)) {
        struct store_scoped_token token;
        row_read(&s, 0, arena, &layout, &token);
        if (lines_are_within(token.line_ids, view->line_ids))
            buffer_add(&rows, &token, sizeof token);
    }
    *list = buffer_array(&rows, sizeof **list, count);
    return sql_result(store);
}

/* Whether the user has room for one more token than the one with this id, which a repetition finds
 * there. */
static bool has_room(struct store *store, const char *user_id, const char *id) {
    static struct statement s = {
        .sql = "SELECT count(*) FROM scoped_token WHERE user_id = ?1 AND id <> ?2"};
    sql_start(store, &s, TEXT(user_id), TEXT(id));
    return row_integer(store, &s, SCOPED_TOKENS_MAX) < SCOPED_TOKENS_MAX;
}

enum store_result store_insert_scoped_token(struct store *store, const char *user_id,
                                            const struct store_scoped_token *token,
                                            const unsigned char hash[CRYPTO_HASH_SIZE]) {
    static struct statement s = {
        .sql = "INSERT INTO scoped_token (id, user_id, hash, name, last4, scopes, created_by, "
               "created_at, expires_at, line_ids) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
               "ON CONFLICT (id) DO NOTHING"};
    bool fits = false;
    while (sql_transact(store)) {
        sql_lock(store, LOCK_USER, NULL, &user_id, 1);
        fits = has_room(store, user_id, token->id);
        if (fits &&
            sql_run(store, &s, TEXT(token->id), TEXT(user_id), HASH(hash), TEXT(token->name),
                    TEXT(token->last4), TEXT(token->scopes), TEXT(token->created_by),
                    INTEGER(token->created_at),
                    token->expires_at == INT64_MAX ? NO_INTEGER : INTEGER(token->expires_at),
                    TEXT(token->line_ids)))
            store_trail(store, user_id, token->id);
    }
    return row_allowed(store, true, fits);
}

/* Locks the tokens of the user. Whether the view has this one, and of which lines it is. */
static bool find_locked(struct store *store, struct arena *arena, const struct store_view *view,
                        const char *id, const char **line_ids) {
    static struct statement s = {
        .sql = "SELECT line_ids FROM scoped_token WHERE id = ?2 AND user_id = ?1"};
    sql_lock(store, LOCK_USER, NULL, &view->user_id, 1);
    sql_start(store, &s, TEXT(view->user_id), TEXT(id));
    if (!sql_row(store, &s))
        return false;
    *line_ids = column_text(&s, 0, arena);
    sql_stop(&s);
    return lines_are_within(*line_ids, view->line_ids);
}

static bool write_change(struct store *store, const char *id,
                         const struct store_scoped_token_change *change) {
    static struct statement s = {
        .sql = "UPDATE scoped_token SET name = coalesce(?2, name), scopes = coalesce(?3, scopes), "
               "line_ids = CASE WHEN ?4 = 1 THEN ?5 ELSE line_ids END WHERE id = ?1"};
    return row_write(store, &s, TEXT(id), TEXT(change->name), TEXT(change->scopes),
                     INTEGER(change->sets_lines), TEXT(change->line_ids));
}

enum store_result store_change_scoped_token(struct store *store, struct arena *arena,
                                            const struct store_view *view, const char *id,
                                            const struct store_scoped_token_change *change) {
    struct lines_change lines = {.to = change->line_ids};
    bool found = false;
    while (sql_transact(store)) {
        found = find_locked(store, arena, view, id, &lines.from) && write_change(store, id, change);
        if (found && change->sets_lines)
            store_trail_limits(store, view->user_id, id, &lines, NULL);
        else if (found)
            store_trail(store, view->user_id, id);
    }
    return sql_found(store, found);
}

/* Reads the last use; INT64_MIN: not yet. False: there is no such token, or on failure. */
static bool read_use(struct store *store, const char *id, int64_t *at) {
    static struct statement s = {.sql = "SELECT last_used_at FROM scoped_token WHERE id = ?1"};
    sql_start(store, &s, TEXT(id));
    if (!sql_row(store, &s))
        return false;
    *at = column_is_null(&s, 0) ? INT64_MIN : column_integer(&s, 0);
    sql_stop(&s);
    return true;
}

/* The condition is repeated, because the courier of another host may have written meanwhile. */
enum store_result store_use_scoped_token(struct store *store, const char *id, int64_t *at) {
    static struct statement s = {
        .sql = "UPDATE scoped_token SET last_used_at = ?2 "
               "WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at <= ?3)"};
    const int64_t used_at = *at, before = used_at - SCOPED_TOKEN_USE_MS;
    const bool found = read_use(store, id, at);
    if (!found || *at > before)
        return sql_found(store, found);
    while (sql_transact(store))
        sql_run(store, &s, TEXT(id), INTEGER(used_at), INTEGER(before));
    *at = used_at;
    return sql_result(store);
}

enum store_result store_delete_scoped_token(struct store *store, struct arena *arena,
                                            const struct store_view *view, const char *id) {
    static struct statement s = {.sql = "DELETE FROM scoped_token WHERE id = ?1"};
    const char *line_ids;
    bool found = false;
    while (sql_transact(store)) {
        const bool may_be_done = found && sql_may_have_committed(store);
        found = find_locked(store, arena, view, id, &line_ids);
        if (found && store_trail(store, view->user_id, id))
            sql_run(store, &s, TEXT(id));
        found |= may_be_done;
    }
    return sql_found(store, found);
}

bool store_end_scoped_tokens(struct store *store, const char *user_id) {
    static struct statement s = {.sql = "DELETE FROM scoped_token WHERE user_id = ?1"};
    return sql_run(store, &s, TEXT(user_id));
}
