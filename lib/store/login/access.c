/* Access: users, their accounts and lines, as requests read them (spec 2.2, 5). */
#include "store/login/access_cache.h"

enum store_result store_authenticate(struct store *store, struct arena *arena,
                                     const unsigned char token_hash[32], struct store_user *user) {
    static struct statement s = {.sql = "SELECT " USER_COLUMNS
                                        "FROM api_token t JOIN \"user\" u ON u.id = t.user_id "
                                        "LEFT JOIN plan p ON p.user_id = u.id AND p.is_addon = 0 "
                                        "WHERE t.hash = ?1 AND u.deleted_at IS NULL"};
    if (access_cache_find_user(store, arena, token_hash, user, NULL))
        return sql_result(store);
    sql_start(store, &s, HASH(token_hash));
    const bool found = row_find(store, &s, arena, &access_user_layout, user);
    if (found)
        access_cache_keep_user(store, token_hash, user, NULL);
    return sql_found(store, found);
}

enum store_result store_authenticate_scoped(struct store *store, struct arena *arena,
                                            const unsigned char hash[CRYPTO_HASH_SIZE],
                                            struct store_user *user,
                                            struct store_scoped_token *token) {
    static struct statement s = {.sql = "SELECT " USER_COLUMNS ", " TOKEN_COLUMNS
                                        "FROM scoped_token t JOIN \"user\" u ON u.id = t.user_id "
                                        "LEFT JOIN plan p ON p.user_id = u.id AND p.is_addon = 0 "
                                        "WHERE t.hash = ?1 AND u.deleted_at IS NULL"};
    if (access_cache_find_user(store, arena, hash, user, token))
        return sql_result(store);
    sql_start(store, &s, HASH(hash));
    bool found = sql_row(store, &s);
    if (found) {
        *token = (struct store_scoped_token){.id = NULL};
        row_read(&s, 0, arena, &access_user_layout, user);
        row_read(&s, access_user_layout.count, arena, &access_token_layout, token);
        sql_stop(&s);
        access_cache_keep_user(store, hash, user, token);
    }
    return sql_found(store, found);
}

/* The member's columns follow those of the session. */
#define SESSION_COLUMNS                                                                            \
    "s.id, s.created_at, s.confirmed_at, s.last_seen_at, s.expires_at, s.is_by_link, "             \
    "m.id, m.email, m.name, ms.role, ms.line_ids, ms.own_threads, u.requires_factor, "             \
    "EXISTS (SELECT 1 FROM factor f WHERE f.member_id = m.id AND f.confirmed_at IS NOT NULL) "

#define OF_SESSION(member) ROW_MEMBER(struct store_session, member)
static const struct row_layout session_layout = ROW_LAYOUT(
    struct store_session, OF_SESSION(id), OF_SESSION(created_at), OF_SESSION(confirmed_at),
    OF_SESSION(last_seen_at), OF_SESSION(expires_at), OF_SESSION(is_by_link), OF_SESSION(member_id),
    OF_SESSION(member_email), OF_SESSION(member_name), OF_SESSION(role), OF_SESSION(line_ids),
    OF_SESSION(is_own_only), OF_SESSION(requires_factor), OF_SESSION(has_factor));

enum store_result store_authenticate_session(struct store *store, struct arena *arena,
                                             const unsigned char hash[32], const char *workspace,
                                             int64_t now, struct store_user *user,
                                             struct store_session *session) {
    static struct statement s = {
        .sql = "SELECT " USER_COLUMNS ", " SESSION_COLUMNS "FROM session s "
               "JOIN membership ms ON ms.member_id = s.member_id "
               "AND ms.user_id = coalesce(?3, s.user_id) "
               "JOIN member m ON m.id = s.member_id JOIN \"user\" u ON u.id = ms.user_id "
               "LEFT JOIN plan p ON p.user_id = u.id AND p.is_addon = 0 "
               "WHERE s.hash = ?1 AND s.expires_at > ?2 AND u.deleted_at IS NULL"};
    sql_start(store, &s, HASH(hash), INTEGER(now), TEXT(workspace));
    bool found = sql_row(store, &s);
    if (found) {
        row_read(&s, 0, arena, &access_user_layout, user);
        row_read(&s, access_user_layout.count, arena, &session_layout, session);
        sql_stop(&s);
    }
    return sql_found(store, found);
}

static const struct row_layout listed_layout =
    ROW_LAYOUT(struct store_account, ACCOUNT_MEMBERS, OF_ACCOUNT(email), OF_ACCOUNT(is_default));

enum store_result store_list_accounts(struct store *store, struct arena *arena, const char *user_id,
                                      struct store_account **accounts, size_t *count) {
    static struct statement of_user = {
        .sql = "SELECT " ACCOUNT_COLUMNS ", u.email, a.id = u.default_account_id FROM account a "
               "JOIN \"user\" u ON u.id = a.user_id WHERE a.user_id = ?1 ORDER BY a.id"};
    static struct statement of_all = {
        .sql = "SELECT " ACCOUNT_COLUMNS ", u.email, a.id = u.default_account_id FROM account a "
               "JOIN \"user\" u ON u.id = a.user_id WHERE u.deleted_at IS NULL ORDER BY a.id"};
    struct statement *s = user_id ? &of_user : &of_all;
    sql_start_with(store, s, &TEXT(user_id), user_id ? 1 : 0);
    *accounts = row_list(store, s, arena, &listed_layout, count);
    return sql_result(store);
}

enum store_result store_find_line(struct store *store, struct arena *arena,
                                  const struct store_view *view, const char *phone_number_id,
                                  struct line *line) {
    static struct statement s = {
        .sql = "SELECT " LINE_COLUMNS ", " ACCOUNT_COLUMNS
               " FROM line l JOIN account a ON a.id = l.account_id "
               "WHERE l.phone_number_id = ?1 AND (a.user_id = ?2 OR ?2 IS NULL) "
               "AND l.archived_at IS NULL"};
    if (view->user_id && access_cache_find_line(store, arena, view->user_id, phone_number_id, line))
        return sql_found(store, view_has_line(view, line->id));
    sql_start(store, &s, TEXT(phone_number_id), TEXT(view->user_id));
    bool found = sql_row(store, &s);
    if (found) {
        *line = (struct line){.is_primary = false};
        row_read(&s, 0, arena, &line_layout, line);
        row_read(&s, line_layout.count, arena, &access_account_layout, &line->account);
        sql_stop(&s);
        if (view->user_id)
            access_cache_keep_line(store, view->user_id, line);
    }
    return sql_found(store, found && view_has_line(view, line->id));
}

enum store_result store_find_account(struct store *store, struct arena *arena, const char *user_id,
                                     const char *account_id, struct store_account *account) {
    static struct statement s = {.sql = "SELECT " ACCOUNT_COLUMNS " FROM account a WHERE a.id = ?1 "
                                        "AND (a.user_id = ?2 OR ?2 IS NULL)"};
    sql_start(store, &s, TEXT(account_id), TEXT(user_id));
    return sql_found(store, row_find(store, &s, arena, &access_account_layout, account));
}

enum store_result store_is_platform_id(struct store *store, const char *platform_id) {
    static struct statement s = {
        .sql = "SELECT 1 WHERE EXISTS (SELECT 1 FROM line WHERE phone_number_id = ?1) "
               "OR EXISTS (SELECT 1 FROM account WHERE waba_id = ?1)"};
    sql_start(store, &s, TEXT(platform_id));
    return sql_found(store, row_exists(store, &s));
}
