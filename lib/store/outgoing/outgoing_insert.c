/* Rows of the table outgoing, for those who hand sends over. */
#include "store/outgoing.h"

#include "engine/sql.h"
#include "store/deed.h"
#include "store/outgoing/campaign_count.h"
#include "store/outgoing/outgoing_row.h"

static bool insert_row(struct store *store, const struct store_outgoing *row) {
    static struct statement s = {
        .sql = "INSERT INTO outgoing (id, user_id, account_id, line_id, recipient, body, state, "
               "send_at, next_at, expires_at, by_id, by_name, retry_of, created_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'queued', ?7, ?7, ?8, ?9, ?10, ?11, ?12) "
               "ON CONFLICT (id) DO NOTHING"};
    return sql_run(store, &s, TEXT(row->id), TEXT(row->user_id), TEXT(row->account_id),
                   TEXT(row->line_id), TEXT(row->recipient), BLOB(row->body), INTEGER(row->send_at),
                   INTEGER(row->expires_at), TEXT(row->by.id),
                   TEXT(row->by.id ? row->by.name : NULL), TEXT(row->retry_of),
                   INTEGER(row->created_at));
}

static bool has_row(struct store *store, const char *id) {
    static struct statement s = {.sql = "SELECT id FROM outgoing WHERE id = ?1"};
    sql_start(store, &s, TEXT(id));
    return row_exists(store, &s);
}

/* Whether the row must not be inserted. One that is there was inserted when it was allowed. An
 * assignment that commits after this read is one after the insertion. */
static bool is_refused(struct store *store, const struct store_addressee *to, const char *id) {
    return assignment_is_of_colleague(store, to) && !has_row(store, id);
}

enum store_result store_insert_outgoing(struct store *store, const struct store_addressee *to,
                                        const struct store_outgoing *row) {
    bool refused = false;
    while (sql_transact(store)) {
        refused = is_refused(store, to, row->id);
        if (!refused)
            insert_row(store, row);
    }
    const enum store_result result = sql_result(store);
    if (result != STORE_OK || !refused)
        return result;
    return sql_refuse(store, STORE_CONFLICT, "the thread of the row %s is a colleague's", row->id);
}

/* Marks the row that `row` sends again. The mark stays when `row` is deleted: else it could be sent
 * a third time. False: another row has it, it must not be sent again, or on failure. */
static bool mark_retried(struct store *store, const struct store_outgoing *row) {
    static struct statement s = {
        .sql = "UPDATE outgoing SET retried_as = ?3 WHERE id = ?1 AND user_id = ?2 "
               "AND state IN ('failed', 'expired') AND length(body) > 0 "
               "AND (retried_as IS NULL OR retried_as = ?3)"};
    return row_write(store, &s, TEXT(row->retry_of), TEXT(row->user_id), TEXT(row->id));
}

enum store_result store_retry_outgoing(struct store *store, const struct store_addressee *to,
                                       const struct store_outgoing *row, bool *is_of_colleague) {
    bool is_free = false;
    while (sql_transact(store)) {
        *is_of_colleague = is_refused(store, to, row->id);
        is_free = !*is_of_colleague && mark_retried(store, row);
        if (is_free && insert_row(store, row))
            store_trail(store, row->user_id, row->retry_of);
    }
    const enum store_result result = sql_result(store);
    if (result != STORE_OK || is_free)
        return result;
    return sql_refuse(store, STORE_CONFLICT, "the row %s cannot be sent again", row->retry_of);
}

enum store_result store_cancel_outgoing(struct store *store, const struct store_view *view,
                                        const char *id, int64_t now) {
    static struct campaign_transition row = {
        {.sql = "UPDATE outgoing SET state = 'cancelled', finished_at = ?3 WHERE id = ?1 "
                "AND user_id = ?2 AND state = 'queued' RETURNING campaign_id"},
        "queued",
        "cancelled"};
    static struct statement look = {
        .sql = "SELECT state = ?3 FROM outgoing WHERE id = ?1 AND user_id = ?2"};
    const char *user_id = view->user_id;
    enum store_result outcome = STORE_NOT_FOUND;
    while (sql_transact(store)) {
        const bool may_be_done = outcome == STORE_OK && sql_may_have_committed(store);
        bool exists = true;
        size_t cancelled = 0;
        outcome = STORE_NOT_FOUND;
        if (!may_be_done && !outgoing_is_shown(store, view, id))
            continue;
        outcome = STORE_OK;
        if (!campaign_count_run(store, &row, &cancelled, TEXT(id), TEXT(user_id), INTEGER(now)))
            continue;
        if (cancelled || outgoing_is_in_state(store, &look, user_id, id, "cancelled", &exists))
            store_trail(store, user_id, id);
        else
            outcome = exists ? STORE_CONFLICT : STORE_NOT_FOUND;
    }
    const enum store_result result = sql_result(store);
    if (result != STORE_OK || outcome == STORE_OK)
        return result;
    return sql_refuse(store, outcome, "the row %s cannot be cancelled", id);
}
