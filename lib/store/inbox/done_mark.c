#include "store/done_mark.h"

#include "store/deed.h"
#include "store/inbox/change.h"
#include "store/inbox/thread.h"

/* SQL: the message was to be answered, or sent again. */
#define IS_OPEN                                                                                    \
    "((direction = 'in' AND source = 'webhook') OR (direction = 'out' AND status = 'failed')) "    \
    "AND " COUNTS_TYPE("")

/* Gives the thread its mark, INT64_MAX: none, and a next number of a change. */
static bool write_thread(struct store *store, const char *user_id, const char *id,
                         int64_t done_at) {
    static struct statement s = {.sql =
                                     "UPDATE thread SET done_at = ?2, changed = ?3 WHERE id = ?1"};
    int64_t change;
    return change_next(store, user_id, &change) &&
           sql_run(store, &s, TEXT(id), done_at == INT64_MAX ? NO_INTEGER : INTEGER(done_at),
                   INTEGER(change)) &&
           thread_recount(store, id);
}

/* Marks the messages since the first one that waits or failed. */
static bool mark(struct store *store, const char *user_id, const struct thread_found *thread,
                 int64_t change, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE message SET done_at = ?4 WHERE thread_id = ?1 AND timestamp >= ?2 "
               "AND changed <= ?3 AND done_at IS NULL AND " IS_OPEN};
    const int64_t since =
        thread->waiting_since < thread->failed_at ? thread->waiting_since : thread->failed_at;
    if (since == INT64_MAX)
        return true;
    return sql_run(store, &s, TEXT(thread->id), INTEGER(since), INTEGER(change), INTEGER(now)) &&
           (!sql_changes(store) || write_thread(store, user_id, thread->id, now));
}

/* Takes back the marks of the messages since the last answer: the others wait for none. */
static bool unmark(struct store *store, const char *user_id, const struct thread_found *thread) {
    static struct statement s = {
        .sql = "UPDATE message SET done_at = NULL WHERE thread_id = ?1 AND timestamp >= ?2 "
               "AND done_at = ?3 AND " IS_OPEN};
    const int64_t since = thread->answered_at == INT64_MAX ? 0 : thread->answered_at - 1000;
    if (thread->done_at == INT64_MAX)
        return true;
    return sql_run(store, &s, TEXT(thread->id), INTEGER(since), INTEGER(thread->done_at)) &&
           write_thread(store, user_id, thread->id, INT64_MAX);
}

/* Reads what is left, after the thread was counted again. */
static bool read_left(struct store *store, const char *user_id, const char *id,
                      struct store_done *left) {
    struct thread_found thread;
    if (!thread_write_changes(store) || !thread_find(store, WHOLE_VIEW(user_id), id, &thread))
        return false;
    *left = (struct store_done){thread.waiting_since, thread.failed_at, thread.done_at};
    return true;
}

enum store_result store_mark_done(struct store *store, const struct store_view *view,
                                  const char *thread_id, int64_t change, int64_t now,
                                  struct store_done *left) {
    const char *user_id = view->user_id;
    struct thread_found thread;
    bool found = false;
    while (sql_transact(store)) {
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1); /* a new message raises one of them */
        found = thread_find(store, view, thread_id, &thread);
        if (found && mark(store, user_id, &thread, change, now) &&
            store_trail(store, user_id, thread.id))
            read_left(store, user_id, thread.id, left);
    }
    return sql_found(store, found);
}

enum store_result store_unmark_done(struct store *store, const struct store_view *view,
                                    const char *thread_id, struct store_done *left) {
    const char *user_id = view->user_id;
    struct thread_found thread;
    bool found = false;
    while (sql_transact(store)) {
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1);
        found = thread_find(store, view, thread_id, &thread);
        if (found && unmark(store, user_id, &thread) && store_trail(store, user_id, thread.id))
            read_left(store, user_id, thread.id, left);
    }
    return sql_found(store, found);
}
