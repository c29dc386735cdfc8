#include "store/refusal.h"

#include "base/crypto.h"
#include "engine/row.h"

static const int64_t kept = INT64_C(30) * 24 * 60 * 60 * 1000;

enum { MOST_BYTES = 64 * 1024 * 1024, MOST_REFUSALS = 1000 };

/* Counts the payload if it is stored already; *is_known: it is. A repetition of the call has the
 * same time. */
static bool update_count(struct store *store, struct slice hash, int64_t now, bool *is_known) {
    static struct statement s = {
        .sql = "UPDATE webhook_refusal SET count = CASE WHEN last_at = ?2 THEN count "
               "ELSE count + 1 END, last_at = ?2 WHERE hash = ?1"};
    if (!sql_run(store, &s, BLOB(hash), INTEGER(now)))
        return false;
    *is_known = sql_changes(store) > 0;
    return true;
}

/* Deletes old payloads and checks whether `size` more bytes fit. */
static bool check_room(struct store *store, size_t size, int64_t now, bool *has_room) {
    static struct statement delete_old = {.sql = "DELETE FROM webhook_refusal WHERE last_at < ?1"};
    static struct statement count = {
        .sql = "SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM webhook_refusal"};
    if (!sql_run(store, &delete_old, INTEGER(now - kept)))
        return false;
    sql_start_with(store, &count, NULL, 0);
    if (!sql_row(store, &count))
        return false;
    *has_room = column_integer(&count, 0) < MOST_REFUSALS &&
                column_integer(&count, 1) + (int64_t)size <= MOST_BYTES;
    sql_stop(&count);
    return true;
}

enum store_result store_upsert_refusal(struct store *store, const char *id, const char *reason,
                                       int64_t updates, struct slice body, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO webhook_refusal (id, hash, reason, size, updates, count, first_at, "
               "last_at, body) VALUES (?1, ?2, ?3, ?4, nullif(?5, -1), 1, ?6, ?6, ?7)"};
    unsigned char hash[CRYPTO_HASH_SIZE];
    struct slice key = {(char *)hash, sizeof hash};
    bool is_known = false, has_room = true;
    crypto_sha256(body, hash);
    while (sql_transact(store)) {
        has_room = true;
        sql_lock(store, LOCK_REFUSALS, NULL, NULL, 0);
        if (update_count(store, key, now, &is_known) && !is_known &&
            check_room(store, body.n, now, &has_room) && has_room)
            sql_run(store, &s, TEXT(id), BLOB(key), TEXT(reason), INTEGER((int64_t)body.n),
                    INTEGER(updates), INTEGER(now), BLOB(body));
    }
    enum store_result result = sql_result(store);
    if (result == STORE_OK && !has_room)
        return sql_refuse(store, STORE_FULL,
                          "too many refused payloads are kept: see `switchboard refusal list`");
    return result;
}

#define REFUSAL_COLUMNS "id, reason, size, coalesce(updates, -1), count, first_at, last_at"
#define OF(member)      ROW_MEMBER(struct store_refusal, member)
#define REFUSAL_MEMBERS                                                                            \
    OF(id), OF(reason), OF(size), OF(updates), OF(count), OF(first_at), OF(last_at)
static const struct row_layout listed_layout = ROW_LAYOUT(struct store_refusal, REFUSAL_MEMBERS);
static const struct row_layout layout = ROW_LAYOUT(struct store_refusal, REFUSAL_MEMBERS, OF(body));

enum store_result store_list_refusals(struct store *store, struct arena *arena,
                                      struct store_refusal **refusals, size_t *count) {
    static struct statement s = {.sql = "SELECT " REFUSAL_COLUMNS " FROM webhook_refusal "
                                        "ORDER BY last_at DESC"};
    sql_start_with(store, &s, NULL, 0);
    *refusals = row_list(store, &s, arena, &listed_layout, count);
    return sql_result(store);
}

enum store_result store_find_refusal(struct store *store, struct arena *arena, const char *id,
                                     struct store_refusal *refusal) {
    static struct statement s = {.sql = "SELECT " REFUSAL_COLUMNS ", body FROM webhook_refusal "
                                        "WHERE id = ?1"};
    sql_start(store, &s, TEXT(id));
    return sql_found(store, row_find(store, &s, arena, &layout, refusal));
}

enum store_result store_delete_refusal(struct store *store, const char *id) {
    static struct statement s = {.sql = "DELETE FROM webhook_refusal WHERE id = ?1"};
    bool found = false;
    while (sql_transact(store))
        found = (sql_run(store, &s, TEXT(id)) && sql_changes(store) > 0) ||
                (found && sql_may_have_committed(store));
    return sql_found(store, found);
}

#define OF_FOREIGN(member) ROW_MEMBER(struct store_foreign, member)
static const struct row_layout foreign_layout =
    ROW_LAYOUT(struct store_foreign, OF_FOREIGN(phone_number_id), OF_FOREIGN(own_waba_id),
               OF_FOREIGN(waba_id), OF_FOREIGN(count), OF_FOREIGN(first_at), OF_FOREIGN(last_at));

enum store_result store_list_foreign_wabas(struct store *store, struct arena *arena, int64_t since,
                                           struct store_foreign **foreign, size_t *count) {
    static struct statement s = {
        .sql = "SELECT l.phone_number_id, a.waba_id, f.waba_id, f.count, f.first_at, f.last_at "
               "FROM foreign_waba f JOIN line l ON l.id = f.line_id "
               "JOIN account a ON a.id = l.account_id WHERE f.last_at >= ?1 "
               "ORDER BY f.last_at DESC"};
    sql_start(store, &s, INTEGER(since));
    *foreign = row_list(store, &s, arena, &foreign_layout, count);
    return sql_result(store);
}
