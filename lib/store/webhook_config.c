#include "store/webhook_config.h"

#include "store/sql.h"

enum store_result store_find_webhook(struct store *store, struct arena *arena, const char *user_id,
                                     struct store_webhook *webhook) {
    static struct statement s = {.sql = "SELECT url, code FROM webhook WHERE user_id = ?1"};
    *webhook = (struct store_webhook){.url = ""};
    sql_start(store, &s, TEXT(user_id));
    if (sql_row(store, &s)) {
        webhook->url = column_text(&s, 0, arena);
        webhook->sealed_code = column_blob(&s, 1, arena);
        sql_stop(&s);
    }
    return sql_result(store);
}

/* Begins a change of the user's webhook, which the delivery of events reads. `code` NULL: none is
 * sealed. */
static bool begin_change(struct store *store, const char *user_id,
                         const struct store_secret *code) {
    if (!sql_begin(store))
        return false;
    sql_lock(store, LOCK_USER, NULL, &user_id, 1);
    if (code)
        sql_lock(store, LOCK_KEYS, NULL, NULL, 0);
    return !sql_failed(store);
}

/* Sets the code; the former code still signs for a while. Needs an open transaction. A repetition
 * of the call finds its own value: that replaces nothing. */
static bool replace_code(struct store *store, const char *user_id, const struct store_secret *code,
                         int64_t now) {
    struct slice sealed_code = sql_seal(store, code);
    static struct statement s = {
        .sql = "INSERT INTO webhook (user_id, code, updated_at) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (user_id) DO UPDATE SET previous_code = webhook.code, previous_until = "
               "CASE WHEN webhook.code IS NULL THEN NULL ELSE CAST(?4 AS BIGINT) END, "
               "code = excluded.code, updated_at = excluded.updated_at "
               "WHERE webhook.code IS NULL OR webhook.code <> excluded.code"};
    return sql_run(store, &s, TEXT(user_id), BLOB(sealed_code), INTEGER(now),
                   INTEGER(now + WEBHOOK_CODE_OVERLAP_MS));
}

enum store_result store_upsert_webhook_code(struct store *store, const char *user_id,
                                            const struct store_secret *code, int64_t now) {
    if (begin_change(store, user_id, code))
        replace_code(store, user_id, code, now);
    return sql_commit(store);
}

enum store_result store_upsert_webhook(struct store *store, const char *user_id, const char *url,
                                       const struct store_secret *code, int64_t now) {
    static struct statement set_url = {
        .sql = "INSERT INTO webhook (user_id, url, updated_at) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (user_id) DO UPDATE SET url = excluded.url, failing_since = NULL, "
               "suspended_at = NULL, next_probe_at = NULL, updated_at = excluded.updated_at"};
    static struct statement due_now = {
        .sql = "UPDATE event SET next_attempt_at = ?2 "
               "WHERE user_id = ?1 AND state = 'pending' AND next_attempt_at > ?2"};
    if (begin_change(store, user_id, code) && (!code || replace_code(store, user_id, code, now)) &&
        sql_run(store, &set_url, TEXT(user_id), TEXT(url), INTEGER(now)))
        sql_run(store, &due_now, TEXT(user_id), INTEGER(now));
    return sql_commit(store);
}

enum store_result store_delete_webhook(struct store *store, const char *user_id, int64_t now) {
    static struct statement clear = {
        .sql = "UPDATE webhook SET url = '', code = NULL, previous_code = NULL, "
               "previous_until = NULL, failing_since = NULL, suspended_at = NULL, "
               "next_probe_at = NULL, updated_at = ?2 WHERE user_id = ?1"};
    static struct statement cancel = {.sql =
                                          "UPDATE event SET state = 'cancelled', finished_at = ?2 "
                                          "WHERE user_id = ?1 AND state = 'pending'"};
    if (begin_change(store, user_id, NULL) && sql_run(store, &clear, TEXT(user_id), INTEGER(now)))
        sql_run(store, &cancel, TEXT(user_id), INTEGER(now));
    return sql_commit(store);
}
