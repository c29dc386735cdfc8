#include "store/second_factor.h"

#include "engine/row.h"
#include "store/deed.h"
#include "store/login/pending_login.h"

/* --- the factor --- */

#define OF_FACTOR(member) ROW_MEMBER(struct store_factor, member)
static const struct row_layout factor_layout =
    ROW_LAYOUT(struct store_factor, OF_FACTOR(secret), OF_FACTOR(last_step), OF_FACTOR(created_at),
               OF_FACTOR(is_set), OF_FACTOR(codes));

enum store_result store_find_factor(struct store *store, struct arena *arena, const char *member_id,
                                    struct store_factor *factor) {
    static struct statement s = {
        .sql = "SELECT secret, last_step, created_at, confirmed_at IS NOT NULL, "
               "(SELECT count(*) FROM recovery_code WHERE member_id = ?1) FROM factor "
               "WHERE member_id = ?1"};
    *factor = (struct store_factor){.is_set = false};
    sql_start(store, &s, TEXT(member_id));
    return sql_found(store, row_find(store, &s, arena, &factor_layout, factor));
}

/* Locks the member until the transaction ends; false when it was removed. */
static bool lock_member(struct store *store, const char *member_id) {
    char user_id[ID_SIZE];
    sql_lock(store, LOCK_USER, NULL, &member_id, 1);
    return member_workspace(store, member_id, user_id);
}

enum store_result store_begin_factor(struct store *store, const char *member_id,
                                     const struct store_secret *secret, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO factor (member_id, secret, last_step, created_at) "
               "VALUES (?1, ?2, 0, ?3) ON CONFLICT (member_id) DO UPDATE SET "
               "secret = excluded.secret, last_step = 0, created_at = excluded.created_at "
               "WHERE factor.confirmed_at IS NULL"};
    bool found = false, is_free = false;
    while (sql_transact(store)) {
        found = lock_member(store, member_id);
        sql_lock(store, LOCK_KEYS, NULL, NULL, 0);
        const struct slice sealed = found ? sql_seal(store, secret) : (struct slice){NULL, 0};
        is_free = found && !sql_failed(store) &&
                  row_write(store, &s, TEXT(member_id), BLOB(sealed), INTEGER(now));
    }
    return row_allowed(store, found, is_free);
}

static bool delete_codes(struct store *store, const char *member_id) {
    static struct statement s = {.sql = "DELETE FROM recovery_code WHERE member_id = ?1"};
    return sql_run(store, &s, TEXT(member_id));
}

static bool replace_codes(struct store *store, const char *member_id,
                          const struct store_recovery_codes *codes) {
    static struct statement s = {.sql =
                                     "INSERT INTO recovery_code (member_id, hash) VALUES (?1, ?2)"};
    bool done = delete_codes(store, member_id);
    for (int i = 0; done && i < RECOVERY_CODES; i++)
        done = sql_run(store, &s, TEXT(member_id), HASH(codes->hashes[i]));
    return done;
}

/* Ends what logged the member in before: with the factor of then. */
static bool end_logins(struct store *store, const char *member_id, const char *kept) {
    static struct statement s = {.sql = "DELETE FROM session WHERE member_id = ?1 AND id <> ?2"};
    return sql_run(store, &s, TEXT(member_id), TEXT(kept ? kept : "")) &&
           pending_end_all(store, member_id);
}

enum store_result store_set_factor(struct store *store, const struct store_session *kept,
                                   const char *user_id, const struct store_factor *factor,
                                   int64_t step, const struct store_recovery_codes *codes,
                                   int64_t now) {
    static struct statement s = {
        .sql = "UPDATE factor SET last_step = ?3, confirmed_at = ?4 WHERE member_id = ?1 "
               "AND created_at = ?2 AND confirmed_at IS NULL"};
    const char *member_id = kept->member_id;
    bool found = false;
    while (sql_transact(store)) {
        const bool may_be_done = found && sql_may_have_committed(store);
        found = lock_member(store, member_id) &&
                (row_write(store, &s, TEXT(member_id), INTEGER(factor->created_at), INTEGER(step),
                           INTEGER(now)) ||
                 may_be_done);
        if (found && replace_codes(store, member_id, codes) &&
            end_logins(store, member_id, kept->id))
            store_trail(store, user_id, member_id);
    }
    return row_allowed(store, true, found);
}

enum store_result store_replace_recovery_codes(struct store *store, const char *user_id,
                                               const char *member_id,
                                               const struct store_recovery_codes *codes) {
    bool found = false;
    while (sql_transact(store)) {
        found = lock_member(store, member_id) && factor_is_set(store, member_id);
        if (found && replace_codes(store, member_id, codes))
            store_trail(store, user_id, member_id);
    }
    return sql_found(store, found);
}

static bool delete_factor(struct store *store, const char *member_id, const char *kept) {
    static struct statement s = {.sql = "DELETE FROM factor WHERE member_id = ?1"};
    return delete_codes(store, member_id) && sql_run(store, &s, TEXT(member_id)) &&
           end_logins(store, member_id, kept);
}

enum store_result store_delete_factor(struct store *store, const char *user_id,
                                      const char *member_id, const char *kept) {
    bool found = false;
    while (sql_transact(store)) {
        const bool may_be_done = found && sql_may_have_committed(store);
        found = (lock_member(store, member_id) && factor_is_set(store, member_id)) || may_be_done;
        if (found && delete_factor(store, member_id, kept))
            store_trail(store, user_id, member_id);
    }
    return sql_found(store, found);
}

enum store_result store_reset_factor(struct store *store, struct arena *arena,
                                     const struct store_member_change *change,
                                     enum member_refusal *refusal) {
    bool found = false, is_deleted = false;
    while (sql_transact(store)) {
        const bool may_be_done = is_deleted && sql_may_have_committed(store);
        found = member_may_reset(store, arena, change, ROLE_OWNER, refusal);
        is_deleted = found && !*refusal && (factor_is_set(store, change->member_id) || may_be_done);
        if (is_deleted && delete_factor(store, change->member_id, NULL))
            store_trail(store, change->user_id, change->member_id);
        if (found && !*refusal && !is_deleted)
            *refusal = MEMBER_NO_FACTOR;
    }
    return sql_found(store, found);
}

/* --- pending logins --- */

#define OF_PENDING(member) ROW_MEMBER(struct store_pending, member)
static const struct row_layout pending_layout =
    ROW_LAYOUT(struct store_pending, OF_PENDING(member_id), OF_PENDING(email), OF_PENDING(name),
               OF_PENDING(user_id));

enum store_result store_find_pending(struct store *store, struct arena *arena,
                                     const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now,
                                     struct store_pending *pending) {
    static struct statement s = {
        .sql = "SELECT m.id, m.email, m.name, (SELECT user_id FROM membership "
               "WHERE member_id = m.id ORDER BY created_at, user_id LIMIT 1) "
               "FROM pending_login p JOIN member m ON m.id = p.member_id "
               "WHERE p.hash = ?1 AND p.expires_at > ?2 AND p.expires_at <= ?3"};
    sql_start(store, &s, HASH(hash), INTEGER(now), INTEGER(now + PENDING_MS + PENDING_MS));
    return sql_found(store, row_find(store, &s, arena, &pending_layout, pending));
}

/* Uses the code of a step, or a recovery code: once. */
static bool use_proof(struct store *store, const char *member_id, const struct store_proof *proof) {
    static struct statement step = {
        .sql = "UPDATE factor SET last_step = ?2 WHERE member_id = ?1 AND last_step < ?2 "
               "AND confirmed_at IS NOT NULL"};
    static struct statement code = {
        .sql = "DELETE FROM recovery_code WHERE member_id = ?1 AND hash = ?2"};
    return proof->code ? row_write(store, &code, TEXT(member_id), HASH(proof->code))
                       : row_write(store, &step, TEXT(member_id), INTEGER(proof->step));
}

static bool end_pending(struct store *store, const unsigned char hash[CRYPTO_HASH_SIZE]) {
    static struct statement s = {.sql = "DELETE FROM pending_login WHERE hash = ?1"};
    return sql_run(store, &s, HASH(hash));
}

/* Reads whether the login waits, and how it began. It waits until the transaction ends: wrong codes
 * that other sessions count wait, or have ended it. */
static bool read_pending(struct store *store, const unsigned char hash[CRYPTO_HASH_SIZE],
                         struct store_new_session *session) {
    static struct statement hold = {
        .sql = "UPDATE pending_login SET failures = failures WHERE hash = ?1"};
    static struct statement s = {.sql = "SELECT is_by_link FROM pending_login WHERE hash = ?1 "
                                        "AND member_id = ?2 AND expires_at > ?3"};
    if (!sql_run(store, &hold, HASH(hash)))
        return false;
    sql_start(store, &s, HASH(hash), TEXT(session->member_id), INTEGER(session->now));
    if (!sql_row(store, &s))
        return false;
    session->is_by_link = column_integer(&s, 0) != 0;
    sql_stop(&s);
    return true;
}

static bool has_session(struct store *store, const char *id) {
    static struct statement s = {.sql = "SELECT id FROM session WHERE id = ?1"};
    sql_start(store, &s, TEXT(id));
    return row_exists(store, &s);
}

enum store_result store_end_pending(struct store *store, const unsigned char hash[CRYPTO_HASH_SIZE],
                                    const struct store_proof *proof,
                                    struct store_new_session *session) {
    char user_id[ID_SIZE];
    bool found = false, is_used = false;
    while (sql_transact(store)) {
        if (sql_may_have_committed(store) && has_session(store, session->id))
            continue;
        sql_lock(store, LOCK_USER, NULL, &session->member_id, 1);
        found = member_workspace(store, session->member_id, user_id) &&
                read_pending(store, hash, session);
        is_used = found && use_proof(store, session->member_id, proof);
        if (is_used && end_pending(store, hash) && login_insert_session(store, session, user_id))
            store_trail(store, user_id, session->id);
    }
    return row_allowed(store, found, is_used);
}

/* --- the rule of a workspace --- */

enum store_result store_set_factor_rule(struct store *store, const char *user_id, const char *by,
                                        bool is_required, enum factor_rule_refusal *refusal) {
    static struct statement s = {.sql = "UPDATE \"user\" SET requires_factor = ?2 WHERE id = ?1"};
    while (sql_transact(store)) {
        sql_lock(store, LOCK_USER, NULL, (const char *[]){user_id, by}, 2);
        *refusal = !by                                             ? FACTOR_RULE_NOT_REFUSED
                   : member_role(store, user_id, by) != ROLE_OWNER ? FACTOR_RULE_NO_OWNER
                   : is_required && !factor_is_set(store, by)      ? FACTOR_RULE_NO_FACTOR
                                                                   : FACTOR_RULE_NOT_REFUSED;
        if (!*refusal && sql_run(store, &s, TEXT(user_id), INTEGER(is_required)))
            store_trail(store, user_id, NULL);
    }
    return sql_result(store);
}
