#include "store/idempotency_key.h"

#include <stdio.h>

#include "engine/row.h"

/* Inserts the key, or starts one again that is too old; is_new: it was. */
static bool upsert_key(struct store *store, const struct store_idempotency_key *key, int64_t now,
                       struct store_idempotency *found) {
    static struct statement s = {
        .sql = "INSERT INTO idempotency (user_id, key, route, fingerprint, request_id, created_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (user_id, key) DO UPDATE "
               "SET route = excluded.route, fingerprint = excluded.fingerprint, "
               "request_id = excluded.request_id, status = NULL, answer = NULL, is_sealed = 0, "
               "wamid = NULL, wa_id = NULL, created_at = excluded.created_at WHERE "
               "idempotency.created_at < ?7"};
    if (!sql_run(store, &s, TEXT(key->user_id), TEXT(key->key), TEXT(found->route),
                 HASH(found->fingerprint), TEXT(found->request_id), INTEGER(now),
                 INTEGER(now - IDEMPOTENCY_KEPT_MS)))
        return false;
    found->is_new = sql_changes(store) > 0;
    found->started_at = now;
    return true;
}

#define OF(member) ROW_MEMBER(struct store_idempotency, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_idempotency, OF(status), OF(answer), OF(started_at), OF(wamid),
               OF(wa_id), OF(route), OF(is_sealed));

/* Reads the state of a key that is stored. A key with the request id of this call was started by
 * it: the call is repeated because the result of its commit is unknown. */
static void read_row(struct store *store, struct arena *arena,
                     const struct store_idempotency_key *key, struct store_idempotency *found) {
    static struct statement s = {
        .sql = "SELECT fingerprint, request_id, status, answer, created_at, wamid, wa_id, route, "
               "is_sealed FROM idempotency WHERE user_id = ?1 AND key = ?2"};
    sql_start(store, &s, TEXT(key->user_id), TEXT(key->key));
    if (!sql_row(store, &s))
        return;
    const struct slice fingerprint = column_blob(&s, 0, arena);
    const char *const request_id = column_text(&s, 1, arena);
    row_read(&s, 2, arena, &layout, found);
    sql_stop(&s);
    found->is_new = strcmp(found->request_id, request_id) == 0;
    memcpy(found->fingerprint, fingerprint.p, sizeof found->fingerprint);
    snprintf(found->request_id, ID_SIZE, "%s", request_id);
}

enum store_result store_insert_idempotency_key(struct store *store, struct arena *arena,
                                               const struct store_idempotency_key *key, int64_t now,
                                               struct store_idempotency *found) {
    const struct store_idempotency given = *found;
    while (sql_transact(store)) {
        *found = given;
        if (upsert_key(store, key, now, found) && !found->is_new)
            read_row(store, arena, key, found);
    }
    return sql_result(store);
}

enum store_result store_update_idempotency_heartbeat(struct store *store,
                                                     const struct store_idempotency_key *key,
                                                     const char *request_id, int64_t now) {
    static struct statement s = {.sql = "UPDATE idempotency SET created_at = ?4 "
                                        "WHERE user_id = ?1 AND key = ?2 AND request_id = ?3"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(key->user_id), TEXT(key->key), TEXT(request_id), INTEGER(now));
    return sql_result(store);
}

enum store_result store_update_idempotency_key(struct store *store,
                                               const struct store_idempotency_key *key,
                                               const char *request_id,
                                               const unsigned char fingerprint[32], int status,
                                               struct slice answer) {
    static struct statement s = {
        .sql = "UPDATE idempotency SET fingerprint = ?4, status = ?5, answer = ?6 "
               "WHERE user_id = ?1 AND key = ?2 AND request_id = ?3"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(key->user_id), TEXT(key->key), TEXT(request_id), HASH(fingerprint),
                INTEGER(status), BLOB(answer));
    return sql_result(store);
}

enum store_result store_seal_idempotency_key(struct store *store,
                                             const struct store_idempotency_key *key,
                                             const char *request_id,
                                             const struct store_secret *answer) {
    static struct statement s = {
        .sql = "UPDATE idempotency SET status = 200, answer = ?4, is_sealed = 1 "
               "WHERE user_id = ?1 AND key = ?2 AND request_id = ?3"};
    while (sql_transact(store)) {
        sql_lock(store, LOCK_KEYS, NULL, NULL, 0);
        const struct slice sealed = sql_seal(store, answer);
        if (!sql_failed(store))
            sql_run(store, &s, TEXT(key->user_id), TEXT(key->key), TEXT(request_id), BLOB(sealed));
    }
    return sql_result(store);
}

enum store_result store_delete_idempotency_key(struct store *store,
                                               const struct store_idempotency_key *key,
                                               const char *request_id) {
    static struct statement s = {.sql = "DELETE FROM idempotency "
                                        "WHERE user_id = ?1 AND key = ?2 AND request_id = ?3"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(key->user_id), TEXT(key->key), TEXT(request_id));
    return sql_result(store);
}
