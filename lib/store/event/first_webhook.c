#include "store/first_webhook.h"

#include "store/event/outbox_entry.h"
#include "store/event/webhook_match.h"
#include "store/event/webhook_row.h"

enum store_result store_find_webhook_config(struct store *store, struct arena *arena,
                                            const char *user_id,
                                            struct store_webhook_config *webhook) {
    static struct statement s = {.sql = "SELECT url, code FROM webhook WHERE id = " WEBHOOK_FIRST};
    *webhook = (struct store_webhook_config){.url = ""};
    sql_start(store, &s, TEXT(user_id));
    if (sql_row(store, &s)) {
        webhook->url = column_text(&s, 0, arena);
        webhook->sealed_code = column_blob(&s, 1, arena);
        sql_stop(&s);
    }
    return sql_result(store);
}

enum store_result store_upsert_webhook_config_code(struct store *store, const char *user_id,
                                                   const struct store_secret *code, int64_t now) {
    char id[ID_SIZE];
    while (sql_transact(store))
        if (webhook_lock(store, user_id, code) && webhook_ensure_first(store, user_id, now, id))
            webhook_replace_code(store, id, code, now);
    return sql_result(store);
}

enum store_result store_upsert_webhook_config(struct store *store, const char *user_id,
                                              const char *url, const struct store_secret *code,
                                              int64_t now) {
    char id[ID_SIZE];
    while (sql_transact(store))
        if (webhook_lock(store, user_id, code) && webhook_ensure_first(store, user_id, now, id) &&
            (!code || webhook_replace_code(store, id, code, now)))
            webhook_set_url(store, id, url, now);
    return sql_result(store);
}

enum store_result store_delete_webhook_config(struct store *store, const char *user_id,
                                              int64_t now) {
    static struct statement clear = {
        .sql = "UPDATE webhook SET url = '', code = NULL, previous_code = NULL, "
               "previous_until = NULL, failing_since = NULL, suspended_at = NULL, "
               "next_probe_at = NULL, updated_at = ?2 WHERE id = ?1"};
    char id[ID_SIZE];
    while (sql_transact(store))
        if (webhook_lock(store, user_id, NULL) && webhook_find_first(store, user_id, id) &&
            sql_run(store, &clear, TEXT(id), INTEGER(now)))
            outbox_cancel(store, user_id, id, now);
    return sql_result(store);
}
