/* Access: users, their accounts and lines, as requests read them (spec 2.2, 5). */
#include "store/login/access_cache.h"

static struct store_account read_account(struct statement *s, int first, struct arena *arena) {
    return (struct store_account){
        .id = column_text(s, first, arena),
        .user_id = column_text(s, first + 1, arena),
        .waba_id = column_text(s, first + 2, arena),
        .name = column_text(s, first + 3, arena),
        .sealed_token = column_blob(s, first + 4, arena),
        .created_at = column_integer(s, first + 5),
    };
}

#define ACCOUNT_COLUMNS "a.id, a.user_id, a.waba_id, a.name, a.access_token, a.created_at"

#define USER_COLUMNS                                                                               \
    "u.id, u.email, u.default_account_id, u.primary_line_id, p.name, p.ends_at, "                  \
    "EXISTS (SELECT 1 FROM account a "                                                             \
    "        WHERE a.user_id = u.id AND a.access_token IS NOT NULL) "
enum { USER_COLUMN_COUNT = 7 };

static struct store_user read_user(struct statement *s, struct arena *arena) {
    return (struct store_user){
        .id = column_text(s, 0, arena),
        .email = column_text(s, 1, arena),
        .default_account_id = column_text(s, 2, arena),
        .primary_line_id = column_text(s, 3, arena),
        .plan_name = column_text(s, 4, arena),
        .plan_ends_at = column_time(s, 5),
        .has_valid_account = column_integer(s, 6) != 0,
    };
}

enum store_result store_authenticate(struct store *store, struct arena *arena,
                                     const unsigned char token_hash[32], struct store_user *user) {
    static struct statement s = {.sql = "SELECT " USER_COLUMNS
                                        "FROM api_token t JOIN \"user\" u ON u.id = t.user_id "
                                        "LEFT JOIN plan p ON p.user_id = u.id AND p.is_addon = 0 "
                                        "WHERE t.hash = ?1 AND u.deleted_at IS NULL"};
    if (access_cache_find_user(store, arena, token_hash, user, NULL))
        return sql_result(store);
    sql_start(store, &s, HASH(token_hash));
    bool found = sql_row(store, &s);
    if (found) {
        *user = read_user(&s, arena);
        sql_stop(&s);
        access_cache_keep_user(store, token_hash, user, NULL);
    }
    return sql_found(store, found);
}

enum store_result store_authenticate_scoped(struct store *store, struct arena *arena,
                                            const unsigned char hash[CRYPTO_HASH_SIZE],
                                            struct store_user *user,
                                            struct store_scoped_token *token) {
    static struct statement s = {
        .sql = "SELECT " USER_COLUMNS
               ", t.id, t.name, t.scopes, t.created_at, t.expires_at, t.line_ids "
               "FROM scoped_token t JOIN \"user\" u ON u.id = t.user_id "
               "LEFT JOIN plan p ON p.user_id = u.id AND p.is_addon = 0 "
               "WHERE t.hash = ?1 AND u.deleted_at IS NULL"};
    if (access_cache_find_user(store, arena, hash, user, token))
        return sql_result(store);
    sql_start(store, &s, HASH(hash));
    bool found = sql_row(store, &s);
    if (found) {
        *user = read_user(&s, arena);
        *token = (struct store_scoped_token){
            .id = column_text(&s, USER_COLUMN_COUNT, arena),
            .name = column_text(&s, USER_COLUMN_COUNT + 1, arena),
            .scopes = column_text(&s, USER_COLUMN_COUNT + 2, arena),
            .created_at = column_integer(&s, USER_COLUMN_COUNT + 3),
            .expires_at = column_time(&s, USER_COLUMN_COUNT + 4),
            .line_ids = column_text(&s, USER_COLUMN_COUNT + 5, arena),
        };
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

static struct store_session read_session(struct statement *s, int first, struct arena *arena) {
    return (struct store_session){
        .id = column_text(s, first, arena),
        .created_at = column_integer(s, first + 1),
        .confirmed_at = column_integer(s, first + 2),
        .last_seen_at = column_integer(s, first + 3),
        .expires_at = column_integer(s, first + 4),
        .is_by_link = column_integer(s, first + 5) != 0,
        .member_id = column_text(s, first + 6, arena),
        .member_email = column_text(s, first + 7, arena),
        .member_name = column_text(s, first + 8, arena),
        .role = column_text(s, first + 9, arena),
        .line_ids = column_text(s, first + 10, arena),
        .is_own_only = column_integer(s, first + 11) != 0,
        .requires_factor = column_integer(s, first + 12) != 0,
        .has_factor = column_integer(s, first + 13) != 0,
    };
}

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
        *user = read_user(&s, arena);
        *session = read_session(&s, USER_COLUMN_COUNT, arena);
        sql_stop(&s);
    }
    return sql_found(store, found);
}

enum store_result store_list_accounts(struct store *store, struct arena *arena, const char *user_id,
                                      struct store_account **accounts, size_t *count) {
    static struct statement of_user = {
        .sql = "SELECT " ACCOUNT_COLUMNS ", u.email, a.id = u.default_account_id FROM account a "
               "JOIN \"user\" u ON u.id = a.user_id WHERE a.user_id = ?1 ORDER BY a.id"};
    static struct statement of_all = {
        .sql = "SELECT " ACCOUNT_COLUMNS ", u.email, a.id = u.default_account_id FROM account a "
               "JOIN \"user\" u ON u.id = a.user_id WHERE u.deleted_at IS NULL ORDER BY a.id"};
    struct statement *s = user_id ? &of_user : &of_all;
    struct buffer rows = buffer_in(arena);
    *count = 0;
    sql_start_with(store, s, &TEXT(user_id), user_id ? 1 : 0);
    while (sql_row(store, s)) {
        struct store_account account = read_account(s, 0, arena);
        account.email = column_text(s, 6, arena);
        account.is_default = column_integer(s, 7) != 0;
        buffer_add(&rows, &account, sizeof account);
        ++*count;
    }
    *accounts = (struct store_account *)(void *)rows.p;
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
        *line = line_of_row(&s, 0, arena);
        line->account = read_account(&s, LINE_COLUMN_COUNT, arena);
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
    bool found = sql_row(store, &s);
    if (found) {
        *account = read_account(&s, 0, arena);
        sql_stop(&s);
    }
    return sql_found(store, found);
}

enum store_result store_is_platform_id(struct store *store, const char *platform_id) {
    static struct statement s = {
        .sql = "SELECT 1 WHERE EXISTS (SELECT 1 FROM line WHERE phone_number_id = ?1) "
               "OR EXISTS (SELECT 1 FROM account WHERE waba_id = ?1)"};
    sql_start(store, &s, TEXT(platform_id));
    bool found = sql_row(store, &s);
    if (found)
        sql_stop(&s);
    return sql_found(store, found);
}
