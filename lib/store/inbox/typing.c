#include "store/typing.h"

#include "engine/row.h"
#include "store/inbox/change.h"
#include "store/inbox/thread.h"

/* Whether a notice came just before. One of a clock that was ahead does not count. */
static bool is_fresh(struct store *store, const char *thread_id, int64_t now) {
    static struct statement s = {
        .sql = "SELECT id FROM thread WHERE id = ?1 AND typing_until > ?2 AND typing_until <= ?3"};
    sql_start(store, &s, TEXT(thread_id), INTEGER(now + TYPING_MS - TYPING_EVERY_MS),
              INTEGER(now + TYPING_MS));
    return row_exists(store, &s);
}

static void write_notice(struct store *store, const char *user_id, const char *thread_id,
                         const char *member_id, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE thread SET typing_by = ?2, typing_until = ?3, changed = ?4 WHERE id = ?1"};
    int64_t change;
    if (change_next(store, user_id, &change))
        sql_run(store, &s, TEXT(thread_id), TEXT(member_id), INTEGER(now + TYPING_MS),
                INTEGER(change));
}

enum store_result store_note_typing(struct store *store, const struct store_view *view,
                                    const char *thread_id, const char *member_id, int64_t now) {
    struct thread_found thread;
    bool found = false;
    while (sql_transact(store)) {
        found = thread_find(store, view, thread_id, &thread);
        if (found && member_id && !is_fresh(store, thread.id, now))
            write_notice(store, view->user_id, thread.id, member_id, now);
    }
    return sql_found(store, found);
}

bool typing_end(struct store *store, const char *thread_id, const char *member_id) {
    static struct statement s = {.sql = "UPDATE thread SET typing_by = NULL, typing_until = NULL "
                                        "WHERE id = ?1 AND typing_by = ?2"};
    return sql_run_later(store, &s, TEXT(thread_id), TEXT(member_id));
}
