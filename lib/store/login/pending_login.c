#include "store/login/pending_login.h"

#include "engine/row.h"

enum {
    PENDING_MOST = 10,    /* of a member: a further login ends the oldest */
    PENDING_FAILURES = 5, /* wrong codes, of which the last ends the login */
};

bool factor_is_set(struct store *store, const char *member_id) {
    static struct statement s = {
        .sql = "SELECT member_id FROM factor WHERE member_id = ?1 AND confirmed_at IS NOT NULL"};
    sql_start(store, &s, TEXT(member_id));
    return row_exists(store, &s);
}

bool pending_insert(struct store *store, const char *member_id,
                    const unsigned char hash[CRYPTO_HASH_SIZE], bool is_by_link,
                    int64_t expires_at) {
    static struct statement add = {
        .sql = "INSERT INTO pending_login (hash, member_id, is_by_link, expires_at) "
               "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (hash) DO NOTHING"};
    static struct statement remove = {
        .sql = "DELETE FROM pending_login WHERE member_id = ?1 AND hash IN (SELECT hash FROM "
               "pending_login WHERE member_id = ?1 ORDER BY expires_at DESC, hash DESC LIMIT 10 "
               "OFFSET ?2)"};
    return sql_run(store, &add, HASH(hash), TEXT(member_id), INTEGER(is_by_link),
                   INTEGER(expires_at)) &&
           sql_run(store, &remove, TEXT(member_id), INTEGER(PENDING_MOST));
}

bool pending_fail(struct store *store, const unsigned char hash[CRYPTO_HASH_SIZE],
                  const char *attempt_id, bool *has_ended) {
    static struct statement count = {
        .sql = "UPDATE pending_login SET failures = failures + 1, attempt_id = ?2 "
               "WHERE hash = ?1 AND (attempt_id IS NULL OR attempt_id <> ?2)"};
    static struct statement end = {
        .sql = "DELETE FROM pending_login WHERE hash = ?1 AND failures >= ?2"};
    static struct statement find = {.sql = "SELECT member_id FROM pending_login WHERE hash = ?1"};
    if (!sql_run(store, &count, HASH(hash), TEXT(attempt_id)) ||
        !sql_run(store, &end, HASH(hash), INTEGER(PENDING_FAILURES)))
        return false;
    sql_start(store, &find, HASH(hash));
    *has_ended = !row_exists(store, &find);
    return !sql_failed(store);
}

bool pending_end_all(struct store *store, const char *member_id) {
    static struct statement s = {.sql = "DELETE FROM pending_login WHERE member_id = ?1"};
    return sql_run(store, &s, TEXT(member_id));
}
