/* Calls: each is one message, whose body is that of its beginning until its end is reported. The
 * webhooks of a call may come in any order and repeatedly. */
#include "base/json.h"
#include "store/inbox/thread.h"
#include "store/ingest/ingest_update.h"

/* Whether the stored body is that of the call's end. */
static bool read_end(struct ingest *in, const char *id, bool *has_ended) {
    static struct statement s = {.sql = "SELECT body FROM message WHERE id = ?1"};
    struct json call;
    struct json_error error;
    *has_ended = false;
    sql_start(in->store, &s, TEXT(id));
    if (!sql_row(in->store, &s))
        return !sql_failed(in->store);
    const struct slice body = column_blob(&s, 0, in->arena);
    sql_stop(&s);
    *has_ended = json_read(in->arena, body, &call, &error) == 0 &&
                 json_equals(json_get(call, "event"), "terminate");
    return true;
}

/* A mark as done that was set while it rang is not about its end. */
static bool write_end(struct ingest *in, const struct store_update *update, const char *id) {
    static struct statement s = {.sql = "UPDATE message SET body = ?2, done_at = ?3 "
                                        "WHERE id = ?1 AND type = 'call'"};
    const bool is_answered = update->message.call == CALL_ANSWERED;
    return sql_run(in->store, &s, TEXT(id), BLOB(update->body),
                   is_answered ? INTEGER(in->now) : NO_INTEGER);
}

bool ingest_call_complete(struct ingest *in, struct store_update *update, const char *id) {
    static struct statement earlier = {.sql = "UPDATE message SET timestamp = ?2, status_at = ?2 "
                                              "WHERE id = ?1 AND type = 'call' AND timestamp > ?2"};
    const bool ends = update->message.call != CALL_RINGS;
    bool has_ended;
    if (!read_end(in, id, &has_ended))
        return false;
    update->outcome = OUTCOME_DUPLICATE;
    if (ends && has_ended)
        return true;
    if (!sql_run(in->store, &earlier, TEXT(id), INTEGER(update->message.timestamp)))
        return false;
    if (ends || sql_changes(in->store))
        update->outcome = OUTCOME_STORED;
    return !ends || write_end(in, update, id);
}

bool ingest_call_settle(struct ingest *in, const char *id, const char *thread_id) {
    static struct statement s = {.sql = "UPDATE message SET done_at = ?2 WHERE id = ?1"};
    return sql_run_later(in->store, &s, TEXT(id), INTEGER(in->now)) &&
           thread_recount(in->store, thread_id);
}
