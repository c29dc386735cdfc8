#include "store/admin.h"

#include <stdio.h>

#include "base/crypto.h"
#include "engine/row.h"
#include "store/deed.h"
#include "store/inbox/change.h"
#include "store/inbox/contact_find.h"
#include "store/member.h"
#include "store/scoped_token.h"

/* Copies the id from INSERT ... RETURNING, and runs the statement to its end: SQLite writes when
 * the last step is done. */
static bool read_returned(struct store *store, struct statement *s, char id[ID_SIZE]) {
    if (!sql_row(store, s))
        return false;
    column_id(s, 0, id);
    return !sql_row(store, s) && !sql_failed(store);
}

static bool find_user(struct store *store, const char *email, char id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT id FROM \"user\" WHERE email = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(email));
    return sql_read_id(store, &s, id);
}

/* Finds the user and locks it until the transaction ends; false when another transaction deleted it
 * meanwhile. */
static bool lock_user(struct store *store, const char *email, char id[ID_SIZE]) {
    char found[ID_SIZE];
    if (!find_user(store, email, found))
        return false;
    sql_lock(store, LOCK_USER, NULL, &(const char *){found}, 1);
    return find_user(store, email, id) && strcmp(id, found) == 0;
}

/* Makes the member with the user's email its owner; `known` "": there is none yet. */
static bool enter_owner(struct store *store, const struct store_new_user *user, const char *known) {
    enum member_refusal refusal;
    const struct store_new_member owner = {.id = *known ? known : user->member_id,
                                           .user_id = user->id,
                                           .email = user->email,
                                           .name = user->email,
                                           .role = ROLE_OWNER,
                                           .created_by = "switchboard user",
                                           .now = user->now};
    return member_enter(store, &owner, *known, &refusal);
}

enum store_result store_insert_user(struct store *store, const struct store_new_user *user) {
    static struct statement add = {
        .sql = "INSERT INTO \"user\" (id, email, created_at) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (id) DO NOTHING"};
    static struct statement add_token = {
        .sql = "INSERT INTO api_token (user_id, hash, created_at, last4) VALUES (?1, ?2, ?3, ?4) "
               "ON CONFLICT (user_id) DO NOTHING"};
    char member_id[ID_SIZE];
    while (sql_transact(store))
        if (member_lock(store, user->id, user->email, member_id) &&
            sql_run(store, &add, TEXT(user->id), TEXT(user->email), INTEGER(user->now)) &&
            sql_run(store, &add_token, TEXT(user->id), HASH(user->token_hash), INTEGER(user->now),
                    TEXT(user->token_last4)) &&
            enter_owner(store, user, member_id))
            store_trail(store, user->id, user->id);
    return sql_result(store);
}

enum store_result store_delete_user(struct store *store, const char *email, int64_t now) {
    static struct statement delete_token = {.sql = "DELETE FROM api_token WHERE user_id = ?1"};
    static struct statement mark = {.sql = "UPDATE \"user\" SET deleted_at = ?2 WHERE id = ?1"};
    static struct statement release_lines = {
        .sql = "UPDATE line SET phone_number_id = 'released ' || id || ' ' || phone_number_id, "
               "archived_at = coalesce(archived_at, ?2) "
               "WHERE account_id IN (SELECT a.id FROM account a WHERE a.user_id = ?1)"};
    static struct statement release_accounts = {
        .sql = "UPDATE account SET waba_id = 'released ' || id || ' ' || waba_id, "
               "access_token = NULL WHERE user_id = ?1"};
    char id[ID_SIZE];
    bool found = false;
    while (sql_transact(store)) {
        if (!lock_user(store, email, id)) {
            found &= sql_may_have_committed(store);
            continue;
        }
        found = true;
        if (sql_run(store, &delete_token, TEXT(id)) && store_end_scoped_tokens(store, id) &&
            member_end_all(store, id) && sql_run(store, &release_lines, TEXT(id), INTEGER(now)) &&
            sql_run(store, &release_accounts, TEXT(id)) &&
            sql_run(store, &mark, TEXT(id), INTEGER(now)))
            store_trail(store, id, id);
    }
    return sql_found(store, found);
}

enum store_result store_replace_token(struct store *store, const char *email,
                                      const unsigned char token_hash[CRYPTO_HASH_SIZE],
                                      const char *last4, int64_t now) {
    static struct statement replace = {
        .sql = "UPDATE api_token SET hash = ?2, created_at = ?3, last4 = ?4 WHERE user_id = ?1"};
    char id[ID_SIZE];
    bool found = false;
    while (sql_transact(store)) {
        found = find_user(store, email, id) &&
                row_write(store, &replace, TEXT(id), HASH(token_hash), INTEGER(now), TEXT(last4));
        if (found)
            store_trail(store, id, id);
    }
    return sql_found(store, found);
}

enum store_result store_set_plan(struct store *store, const struct store_new_plan *plan) {
    static struct statement delete_primary = {
        .sql = "DELETE FROM plan WHERE user_id = ?1 AND is_addon = 0"};
    static struct statement set = {
        .sql = "INSERT INTO plan (user_id, name, is_addon, ends_at, created_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (user_id, is_addon, name) "
               "DO UPDATE SET ends_at = excluded.ends_at, created_at = excluded.created_at"};
    char id[ID_SIZE];
    bool found = false;
    while (sql_transact(store)) {
        found = lock_user(store, plan->email, id);
        if (found && (plan->is_addon || sql_run(store, &delete_primary, TEXT(id))) &&
            sql_run(store, &set, TEXT(id), TEXT(plan->name), INTEGER(plan->is_addon),
                    plan->ends_at == INT64_MAX ? NO_INTEGER : INTEGER(plan->ends_at),
                    INTEGER(plan->now)))
            store_trail(store, id, NULL);
    }
    return sql_found(store, found);
}

enum store_result store_insert_account(struct store *store,
                                       const struct store_new_account *account) {
    static struct statement add = {
        .sql = "INSERT INTO account (id, user_id, waba_id, name, access_token, created_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING"};
    static struct statement set_default = {
        .sql = "UPDATE \"user\" SET default_account_id = ?2 "
               "WHERE id = ?1 AND (?3 = 1 OR default_account_id IS NULL)"};
    char user_id[ID_SIZE];
    bool found = false;
    while (sql_transact(store)) {
        found = find_user(store, account->email, user_id);
        if (found && account->token)
            sql_lock(store, LOCK_KEYS, NULL, NULL, 0);
        if (found &&
            sql_run(store, &add, TEXT(account->id), TEXT(user_id), TEXT(account->waba_id),
                    TEXT(account->name), BLOB(sql_seal(store, account->token)),
                    INTEGER(account->now)) &&
            sql_run(store, &set_default, TEXT(user_id), TEXT(account->id),
                    INTEGER(account->make_default)))
            store_trail(store, user_id, account->id);
    }
    return sql_found(store, found);
}

static bool find_user_of(struct store *store, const char *account_id, char user_id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT user_id FROM account WHERE id = ?1"};
    sql_start(store, &s, TEXT(account_id));
    return sql_read_id(store, &s, user_id);
}

enum store_result store_set_account_token(struct store *store, const char *account_id,
                                          const struct store_secret *token) {
    static struct statement set = {.sql = "UPDATE account SET access_token = ?2 WHERE id = ?1"};
    char user_id[ID_SIZE];
    bool found = false;
    while (sql_transact(store)) {
        sql_lock(store, LOCK_KEYS, NULL, NULL, 0);
        found = row_write(store, &set, TEXT(account_id), BLOB(sql_seal(store, token))) &&
                find_user_of(store, account_id, user_id) && store_trail(store, user_id, account_id);
    }
    return sql_found(store, found);
}

static bool upsert_line(struct store *store, const struct store_new_line *line, char id[ID_SIZE]) {
    static struct statement s = {
        .sql =
            "INSERT INTO line (id, account_id, phone_number_id, phone_number, name, "
            "is_registered, is_coexisting, platform_type, created_at) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (phone_number_id) DO UPDATE "
            "SET phone_number = excluded.phone_number, name = excluded.name, "
            "is_registered = excluded.is_registered, is_coexisting = excluded.is_coexisting, "
            "platform_type = excluded.platform_type, archived_at = NULL "
            "WHERE (line.archived_at IS NOT NULL OR line.id = excluded.id) "
            "AND line.account_id = excluded.account_id "
            "RETURNING id"};
    sql_start(store, &s, TEXT(line->id), TEXT(line->account_id), TEXT(line->phone_number_id),
              TEXT(line->phone_number), TEXT(line->name), INTEGER(line->is_registered),
              INTEGER(line->is_coexisting), TEXT(line->platform_type), INTEGER(line->now));
    return read_returned(store, &s, id);
}

enum store_result store_insert_line(struct store *store, const struct store_new_line *line,
                                    char id[ID_SIZE]) {
    static struct statement set_primary = {
        .sql = "UPDATE \"user\" SET primary_line_id = ?2 "
               "WHERE id = ?1 AND (?3 = 1 OR primary_line_id IS NULL)"};
    char user_id[ID_SIZE];
    bool found = false, written = false;
    while (sql_transact(store)) {
        found = find_user_of(store, line->account_id, user_id);
        written = found && (upsert_line(store, line, id) ||
                            (written && sql_may_have_committed(store) && !sql_failed(store)));
        if (written &&
            sql_run(store, &set_primary, TEXT(user_id), TEXT(id), INTEGER(line->make_primary)))
            store_trail(store, user_id, id);
    }
    return row_allowed(store, found, written);
}

/* A line, its account and its user. */
struct owner {
    char user_id[ID_SIZE], account_id[ID_SIZE], line_id[ID_SIZE];
};

#define OF(member) ROW_MEMBER(struct owner, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct owner, OF(user_id), OF(account_id), OF(line_id));

static bool find_line(struct store *store, const char *phone_number_id, struct owner *owner) {
    static struct statement s = {
        .sql = "SELECT a.user_id, a.id, l.id FROM line l JOIN account a ON a.id = l.account_id "
               "WHERE l.phone_number_id = ?1"};
    sql_start(store, &s, TEXT(phone_number_id));
    return row_find(store, &s, NULL, &layout, owner);
}

/* Leaves a row about the line in the trail of its user. */
static bool leave_line(struct store *store, const char *phone_number_id) {
    struct owner owner;
    return find_line(store, phone_number_id, &owner) &&
           store_trail(store, owner.user_id, owner.line_id);
}

enum store_result store_archive_line(struct store *store, const char *phone_number_id,
                                     int64_t now) {
    static struct statement archive = {
        .sql = "UPDATE line SET archived_at = coalesce(archived_at, ?2) "
               "WHERE phone_number_id = ?1"};
    bool found = false;
    while (sql_transact(store))
        found = row_write(store, &archive, TEXT(phone_number_id), INTEGER(now)) &&
                leave_line(store, phone_number_id);
    return sql_found(store, found);
}

enum store_result store_set_line_rate(struct store *store, const char *phone_number_id,
                                      int64_t rate) {
    static struct statement set = {
        .sql = "UPDATE line SET send_rate = nullif(?2, 0) WHERE phone_number_id = ?1"};
    bool found = false;
    while (sql_transact(store))
        found = row_write(store, &set, TEXT(phone_number_id), INTEGER(rate)) &&
                leave_line(store, phone_number_id);
    return sql_found(store, found);
}

enum store_result store_register_line(struct store *store, const char *phone_number_id) {
    static struct statement set = {
        .sql = "UPDATE line SET is_registered = 1, platform_type = 'CLOUD_API' "
               "WHERE phone_number_id = ?1"};
    bool found = false;
    while (sql_transact(store))
        found = row_write(store, &set, TEXT(phone_number_id)) && leave_line(store, phone_number_id);
    return sql_found(store, found);
}

/* Finds the owner of a block, and locks the identity of the contact until the transaction ends. */
static bool find_owner(struct store *store, const struct store_block *block, struct owner *owner) {
    const char *const identities[] = {block->phone, block->bsuid};
    if (!find_line(store, block->phone_number_id, owner))
        return false;
    sql_lock(store, LOCK_IDENTITY, owner->account_id, identities, 2);
    return !sql_failed(store);
}

/* Finds the contact of the block, or inserts it. */
static bool find_or_insert_contact(struct store *store, const char *account_id,
                                   struct store_block *block) {
    char id[ID_SIZE];
    if (contact_find_locked(store, account_id, block->phone ? block->phone : block->bsuid, id)) {
        snprintf(block->contact_id, ID_SIZE, "%s", id);
        return true;
    }
    return contact_insert(store, &(struct contact){.id = block->contact_id,
                                                   .account_id = account_id,
                                                   .phone = block->phone,
                                                   .bsuid = block->bsuid,
                                                   .created_at = block->now});
}

enum store_result store_block_contact(struct store *store, struct store_block *block) {
    static struct statement add = {
        .sql = "INSERT INTO contact_block (user_id, line_id, contact_id, created_at, identity) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (line_id, contact_id) DO NOTHING"};
    const struct store_block given = *block;
    struct owner owner;
    bool found = false;
    while (sql_transact(store)) {
        *block = given;
        found = find_owner(store, block, &owner);
        if (found && find_or_insert_contact(store, owner.account_id, block) &&
            sql_run(store, &add, TEXT(owner.user_id), TEXT(owner.line_id), TEXT(block->contact_id),
                    INTEGER(block->now), TEXT(block->bsuid ? block->bsuid : block->phone)) &&
            sql_changes(store) &&
            change_thread_of(store, owner.user_id, owner.line_id, block->contact_id))
            store_trail(store, owner.user_id, block->contact_id);
    }
    return sql_found(store, found);
}

enum store_result store_unblock_contact(struct store *store, struct store_block *block,
                                        bool *was_blocked) {
    static struct statement delete_block = {
        .sql = "DELETE FROM contact_block WHERE line_id = ?1 AND contact_id = ?2"};
    struct owner owner;
    const char *identity = block->phone ? block->phone : block->bsuid;
    bool found = false;
    *was_blocked = false;
    while (sql_transact(store)) {
        found = find_owner(store, block, &owner);
        const bool is_deleted =
            found && contact_find_locked(store, owner.account_id, identity, block->contact_id) &&
            sql_run(store, &delete_block, TEXT(owner.line_id), TEXT(block->contact_id)) &&
            sql_changes(store) > 0;
        if (is_deleted && change_thread_of(store, owner.user_id, owner.line_id, block->contact_id))
            store_trail(store, owner.user_id, block->contact_id);
        *was_blocked = is_deleted || (*was_blocked && sql_may_have_committed(store));
    }
    return sql_found(store, found);
}
