#include "store/read_mark.h"

#include "store/inbox/change.h"

/* A thread, and what is to be read of it. */
struct mark {
    char thread_id[ID_SIZE];
    int64_t unread;
};

static bool find_thread(struct store *store, const char *user_id, const char *id,
                        struct mark *mark) {
    static struct statement s = {
        .sql = "SELECT id, unread FROM thread WHERE user_id = ?2 AND id = ?1 UNION ALL "
               "SELECT t.id, t.unread FROM thread_alias a JOIN thread t ON t.id = a.thread_id "
               "WHERE a.id = ?1 AND a.user_id = ?2 LIMIT 1"};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    if (!sql_row(store, &s))
        return false;
    column_id(&s, 0, mark->thread_id);
    mark->unread = column_integer(&s, 1);
    sql_stop(&s);
    return true;
}

/* Counts the messages after the message `up_to` that count as unread, at most as many as are
 * unread: the same ones that store_ingest counted. False: the message is not in the thread. */
static bool count_later(struct store *store, const char *up_to, const struct mark *mark,
                        int64_t *later) {
    static struct statement find = {
        .sql = "SELECT timestamp FROM message WHERE id = ?1 AND thread_id = ?2"};
    static struct statement count = {
        .sql = "SELECT count(*) FROM (SELECT 1 FROM message WHERE thread_id = ?1 "
               "AND (timestamp, id) > (?2, ?3) AND direction = 'in' AND source = 'webhook' "
               "AND type NOT IN ('edit', 'revoke', 'reaction') LIMIT ?4) AS later"};
    sql_start(store, &find, TEXT(up_to), TEXT(mark->thread_id));
    if (!sql_row(store, &find))
        return false;
    int64_t timestamp = column_integer(&find, 0);
    sql_stop(&find);
    sql_start(store, &count, TEXT(mark->thread_id), INTEGER(timestamp), TEXT(up_to),
              INTEGER(mark->unread));
    if (!sql_row(store, &count))
        return false;
    *later = column_integer(&count, 0);
    sql_stop(&count);
    return true;
}

static void write_unread(struct store *store, const char *user_id, const struct mark *mark,
                         int64_t unread) {
    static struct statement s = {.sql =
                                     "UPDATE thread SET unread = ?2, changed = ?3 WHERE id = ?1"};
    int64_t change;
    if (change_next(store, user_id, &change))
        sql_run(store, &s, TEXT(mark->thread_id), INTEGER(unread), INTEGER(change));
}

enum store_result store_mark_read(struct store *store, const char *user_id, const char *thread_id,
                                  const char *up_to, int64_t *unread) {
    struct mark mark = {.unread = 0};
    enum store_result found = STORE_OK;
    while (sql_transact(store)) {
        found = STORE_OK;
        *unread = 0;
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1); /* a new message raises one of them */
        if (!find_thread(store, user_id, thread_id, &mark))
            found = STORE_NOT_FOUND;
        else if (up_to && !count_later(store, up_to, &mark, unread))
            found = STORE_CONFLICT;
        else if (*unread != mark.unread)
            write_unread(store, user_id, &mark, *unread);
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK ? found : result;
}
