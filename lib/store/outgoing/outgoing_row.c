#include "store/outgoing/outgoing_row.h"

#include <string.h>

/* The row's text is in the message from now on. */
bool outgoing_accept(struct store *store, const struct store_send *send) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET state = 'accepted', reason = NULL, error = NULL, wamid = ?2, "
               "is_recorded = 1, body = ?4, finished_at = CASE WHEN state = 'accepted' "
               "THEN finished_at ELSE ?3 END WHERE id = ?1"};
    return !send->outgoing_id ||
           sql_run_later(store, &s, TEXT(send->outgoing_id), TEXT(send->wamid), INTEGER(send->now),
                         BLOB(SLICE("")));
}

static bool is_row(const char *callback_data) {
    return callback_data && strncmp(callback_data, "out_", 4) == 0;
}

bool outgoing_read_campaign(struct store *store, const char *user_id, const char *callback_data,
                            bool *is_campaign) {
    static struct statement s = {.sql = "SELECT 1 FROM outgoing WHERE id = ?1 AND user_id = ?2 "
                                        "AND campaign_id IS NOT NULL"};
    *is_campaign = false;
    if (!is_row(callback_data))
        return true;
    sql_start(store, &s, TEXT(callback_data), TEXT(user_id));
    if ((*is_campaign = sql_row(store, &s)))
        sql_stop(&s);
    return !sql_failed(store);
}

/* Cancels what would send the message of a row again, if it waits. */
static bool cancel_retries(struct store *store, const char *user_id, const char *id, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET state = 'cancelled', reason = 'accepted_before', "
               "finished_at = ?3 WHERE user_id = ?2 AND state = 'queued' AND id IN ("
               "WITH RECURSIVE later (id) AS (SELECT retried_as FROM outgoing WHERE id = ?1 "
               "UNION SELECT o.retried_as FROM later JOIN outgoing o ON o.id = later.id) "
               "SELECT id FROM later)"};
    return sql_run_later(store, &s, TEXT(id), TEXT(user_id), INTEGER(now));
}

bool outgoing_confirm(struct store *store, const char *user_id, const char *callback_data,
                      const char *wamid, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET state = 'accepted', reason = NULL, error = NULL, wamid = ?3, "
               "finished_at = ?4 WHERE id = ?1 AND user_id = ?2 AND state <> 'accepted'"};
    return !is_row(callback_data) || (sql_run_later(store, &s, TEXT(callback_data), TEXT(user_id),
                                                    TEXT(wamid), INTEGER(now)) &&
                                      cancel_retries(store, user_id, callback_data, now));
}

bool outgoing_waits(struct store *store, const char *account_id, const char *const *recipients,
                    size_t count) {
    static struct statement s = {.sql = "SELECT 1 FROM outgoing WHERE account_id = ?1 "
                                        "AND recipient = ?2 AND finished_at IS NULL LIMIT 1"};
    for (size_t i = 0; i < count; i++) {
        sql_start(store, &s, TEXT(account_id), TEXT(recipients[i]));
        if (sql_row(store, &s)) {
            sql_stop(&s);
            return true;
        }
    }
    return false;
}
