/* Internal to the store: the users and lines that a process has read for its requests, and keeps.
 * The table settings_version has a number that every change of such a row replaces, by triggers, so
 * that also changes by other programs count. A row is used while the number is the one before it
 * was read; the number is read in the same transaction as the row would be. */
#ifndef SWITCHBOARD_STORE_LOGIN_ACCESS_CACHE_H
#define SWITCHBOARD_STORE_LOGIN_ACCESS_CACHE_H

#include "engine/row.h"
#include "store/line.h"
#include "store/scoped_token.h"

/* SQL: the columns of a user `u` with the primary plan `p`, of a scoped token `t`, and of an
 * account `a`, which the layouts read. */
#define USER_COLUMNS                                                                               \
    "u.id, u.email, u.default_account_id, u.primary_line_id, p.name, p.ends_at, "                  \
    "EXISTS (SELECT 1 FROM account a "                                                             \
    "        WHERE a.user_id = u.id AND a.access_token IS NOT NULL) "
#define TOKEN_COLUMNS      "t.id, t.name, t.scopes, t.created_at, t.expires_at, t.line_ids "
#define ACCOUNT_COLUMNS    "a.id, a.user_id, a.waba_id, a.name, a.access_token, a.created_at"
#define OF_ACCOUNT(member) ROW_MEMBER(struct store_account, member)
#define ACCOUNT_MEMBERS                                                                            \
    OF_ACCOUNT(id), OF_ACCOUNT(user_id), OF_ACCOUNT(waba_id), OF_ACCOUNT(name),                    \
        OF_ACCOUNT(sealed_token), OF_ACCOUNT(created_at)
extern const struct row_layout access_user_layout, access_token_layout, access_account_layout;

/* Copies the user of the token with this hash into `*user` if it is kept, else false: of a scoped
 * token, which may have expired since, with `*token`; of the user's own one, whose `token` is
 * NULL. */
bool access_cache_find_user(struct store *store, struct arena *arena, const unsigned char hash[32],
                            struct store_user *user, struct store_scoped_token *token);

/* Keeps the user, after an access_cache_find_user that did not find it. */
void access_cache_keep_user(struct store *store, const unsigned char hash[32],
                            const struct store_user *user, const struct store_scoped_token *token);

/* The same for a line, with its account, by the user's id and the platform's id of the line. */
bool access_cache_find_line(struct store *store, struct arena *arena, const char *user_id,
                            const char *phone_number_id, struct line *line);
void access_cache_keep_line(struct store *store, const char *user_id, const struct line *line);
#endif
