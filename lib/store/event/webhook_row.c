#include "store/event/webhook_row.h"

#include "store/event/outbox_entry.h"
#include "store/event/webhook_match.h"

bool webhook_lock(struct store *store, const char *user_id, const struct store_secret *code) {
    sql_lock(store, LOCK_USER, NULL, &user_id, 1);
    if (code)
        sql_lock(store, LOCK_KEYS, NULL, NULL, 0);
    return !sql_failed(store);
}

bool webhook_find_first(struct store *store, const char *user_id, char id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT id FROM webhook WHERE id = " WEBHOOK_FIRST};
    sql_start(store, &s, TEXT(user_id));
    return sql_read_id(store, &s, id);
}

bool webhook_ensure_first(struct store *store, const char *user_id, int64_t now, char id[ID_SIZE]) {
    static struct statement s = {
        .sql = "INSERT INTO webhook (id, user_id, kind, created_at, updated_at) "
               "VALUES (?1, ?2, 'event', ?3, ?3)"};
    if (webhook_find_first(store, user_id, id) || sql_failed(store))
        return !sql_failed(store);
    id_make(id, "whk_", now);
    return sql_run(store, &s, TEXT(id), TEXT(user_id), INTEGER(now));
}

bool webhook_replace_code(struct store *store, const char *id, const struct store_secret *code,
                          int64_t now) {
    struct slice sealed_code = sql_seal(store, code);
    static struct statement s = {
        .sql = "UPDATE webhook SET previous_code = code, previous_until = "
               "CASE WHEN code IS NULL THEN NULL ELSE CAST(?4 AS BIGINT) END, code = ?2, "
               "updated_at = ?3 WHERE id = ?1 AND (code IS NULL OR code <> ?2)"};
    return sql_run(store, &s, TEXT(id), BLOB(sealed_code), INTEGER(now),
                   INTEGER(now + WEBHOOK_CODE_OVERLAP_MS));
}

bool webhook_set_url(struct store *store, const char *id, const char *url, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE webhook SET url = ?2, failing_since = NULL, suspended_at = NULL, "
               "next_probe_at = NULL, updated_at = ?3 WHERE id = ?1"};
    return sql_run(store, &s, TEXT(id), TEXT(url), INTEGER(now)) && outbox_make_due(store, id, now);
}
