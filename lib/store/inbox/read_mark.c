#include "store/read_mark.h"

#include "engine/row.h"
#include "store/inbox/change.h"
#include "store/inbox/thread.h"

/* Counts the messages after the message `up_to` that count as unread, at most as many as are
 * unread: the same ones that store_ingest counted. False: the message is not in the thread. */
static bool count_later(struct store *store, const char *up_to, const struct thread_found *thread,
                        int64_t *later) {
    static struct statement find = {
        .sql = "SELECT timestamp FROM message WHERE id = ?1 AND thread_id = ?2"};
    static struct statement count = {
        .sql = "SELECT count(*) FROM (SELECT 1 FROM message WHERE thread_id = ?1 "
               "AND (timestamp, id) > (?2, ?3) AND direction = 'in' AND source = 'webhook' "
               "AND " COUNTS_TYPE("") " LIMIT ?4) AS later"};
    sql_start(store, &find, TEXT(up_to), TEXT(thread->id));
    const int64_t timestamp = row_integer(store, &find, INT64_MIN);
    if (timestamp == INT64_MIN)
        return false;
    sql_start(store, &count, TEXT(thread->id), INTEGER(timestamp), TEXT(up_to),
              INTEGER(thread->unread));
    *later = row_integer(store, &count, 0);
    return !sql_failed(store);
}

static void write_unread(struct store *store, const char *user_id, const char *id, int64_t unread) {
    static struct statement s = {.sql =
                                     "UPDATE thread SET unread = ?2, changed = ?3 WHERE id = ?1"};
    int64_t change;
    if (change_next(store, user_id, &change))
        sql_run(store, &s, TEXT(id), INTEGER(unread), INTEGER(change));
}

enum store_result store_mark_read(struct store *store, const struct store_view *view,
                                  const char *thread_id, const char *up_to, int64_t *unread) {
    const char *user_id = view->user_id;
    struct thread_found thread = {.unread = 0};
    enum store_result found = STORE_OK;
    while (sql_transact(store)) {
        found = STORE_OK;
        *unread = 0;
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1); /* a new message raises one of them */
        if (!thread_find(store, view, thread_id, &thread))
            found = STORE_NOT_FOUND;
        else if (up_to && !count_later(store, up_to, &thread, unread))
            found = STORE_CONFLICT;
        else if (*unread != thread.unread)
            write_unread(store, user_id, thread.id, *unread);
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK ? found : result;
}

enum store_result store_mark_unread(struct store *store, const struct store_view *view,
                                    const char *thread_id, int64_t *unread) {
    const char *user_id = view->user_id;
    struct thread_found thread = {.unread = 0};
    bool found = false;
    while (sql_transact(store)) {
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1); /* a new message raises one of them */
        found = thread_find(store, view, thread_id, &thread);
        *unread = thread.unread ? thread.unread : 1;
        if (found && !thread.unread)
            write_unread(store, user_id, thread.id, *unread);
    }
    return sql_found(store, found);
}
