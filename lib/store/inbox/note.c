#include "store/note.h"

#include "engine/row.h"
#include "store/deed.h"
#include "store/inbox.h"
#include "store/inbox/change.h"
#include "store/inbox/thread.h"

#define COLUMNS "SELECT id, thread_id, text, by_id, by_name, created_at FROM note "

#define OF(member) ROW_MEMBER(struct store_note, member)
static const struct row_layout layout = ROW_LAYOUT(
    struct store_note, OF(id), OF(thread_id), OF(text), OF(by.id), OF(by.name), OF(created_at));

enum store_result store_find_note(struct store *store, struct arena *arena,
                                  const struct store_view *view, const char *id,
                                  struct store_note *note) {
    static struct statement s = {.sql = COLUMNS "WHERE id = ?1 AND user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(view->user_id));
    const bool found = row_find(store, &s, arena, &layout, note);
    return sql_found(store, found && inbox_has_thread(store, arena, view, note->thread_id));
}

enum store_result store_list_notes(struct store *store, struct arena *arena,
                                   const struct store_view *view, const char *thread_id,
                                   const char *before, size_t limit, struct store_note **notes,
                                   size_t *count) {
    static struct statement s = {.sql = COLUMNS
                                 "WHERE thread_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3"};
    struct thread_found thread;
    *notes = NULL;
    *count = 0;
    if (!thread_find(store, view, thread_id, &thread))
        return sql_found(store, false);
    /* U+007F sorts after all ids */
    sql_start(store, &s, TEXT(thread.id), TEXT(before ? before : "\x7f"), INTEGER((int64_t)limit));
    *notes = row_list(store, &s, arena, &layout, count);
    return sql_result(store);
}

/* Gives the thread a next number of a change, which is that of its notes too. */
static bool change_notes(struct store *store, const char *user_id, const char *thread_id) {
    static struct statement s = {
        .sql = "UPDATE thread SET notes_changed = ?2, changed = ?2 WHERE id = ?1"};
    int64_t change;
    return change_next(store, user_id, &change) &&
           sql_run(store, &s, TEXT(thread_id), INTEGER(change));
}

static bool has_room(struct store *store, const char *thread_id, const char *id) {
    static struct statement s = {.sql = "SELECT count(*) FROM (SELECT 1 FROM note "
                                        "WHERE thread_id = ?1 AND id <> ?2 LIMIT ?3) AS counted"};
    sql_start(store, &s, TEXT(thread_id), TEXT(id), INTEGER(NOTES_MAX));
    return row_integer(store, &s, NOTES_MAX) < NOTES_MAX;
}

static bool insert(struct store *store, const char *user_id, const char *thread_id,
                   const struct store_note *note) {
    static struct statement s = {
        .sql = "INSERT INTO note (id, user_id, thread_id, text, by_id, by_name, created_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING"};
    return sql_run(store, &s, TEXT(note->id), TEXT(user_id), TEXT(thread_id), TEXT(note->text),
                   TEXT(note->by.id), TEXT(note->by.id ? note->by.name : NULL),
                   INTEGER(note->created_at)) &&
           (!sql_changes(store) || change_notes(store, user_id, thread_id)) &&
           store_trail(store, user_id, thread_id);
}

enum store_result store_insert_note(struct store *store, const struct store_view *view,
                                    const struct store_note *note) {
    const char *user_id = view->user_id;
    struct thread_found thread;
    bool found = false, is_full = false;
    while (sql_transact(store)) {
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1); /* the thread may be deleted */
        found = thread_find(store, view, note->thread_id, &thread);
        is_full = found && !has_room(store, thread.id, note->id);
        if (found && !is_full)
            insert(store, user_id, thread.id, note);
    }
    return row_allowed(store, found, !is_full);
}

/* A note that is stored, and who wrote it. */
struct written {
    char thread_id[ID_SIZE], by_id[ID_SIZE];
};

static const struct row_layout written_layout = ROW_LAYOUT(
    struct written, ROW_MEMBER(struct written, thread_id), ROW_MEMBER(struct written, by_id));

static bool find(struct store *store, const char *user_id, const char *id,
                 struct written *written) {
    static struct statement s = {
        .sql = "SELECT thread_id, by_id FROM note WHERE id = ?1 AND user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    return row_find(store, &s, NULL, &written_layout, written);
}

static bool delete_row(struct store *store, const char *user_id, const char *id,
                       const char *thread_id) {
    static struct statement s = {.sql = "DELETE FROM note WHERE id = ?1"};
    return sql_run(store, &s, TEXT(id)) && change_notes(store, user_id, thread_id);
}

enum store_result store_delete_note(struct store *store, const struct store_view *view,
                                    const char *id, const char *by) {
    const char *user_id = view->user_id;
    struct written written = {.thread_id = ""};
    struct thread_found thread;
    bool found = false, is_own = false;
    while (sql_transact(store)) {
        const bool may_be_done = is_own && sql_may_have_committed(store);
        sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1);
        found = find(store, user_id, id, &written) &&
                thread_find(store, view, written.thread_id, &thread);
        is_own = found && (!by || strcmp(by, written.by_id) == 0);
        if (is_own && delete_row(store, user_id, id, written.thread_id))
            store_trail(store, user_id, written.thread_id);
        found |= may_be_done;
        is_own |= may_be_done;
    }
    return row_allowed(store, found, is_own);
}

bool note_delete(struct store *store, const char *user_id, const char *id) {
    struct written written;
    if (!find(store, user_id, id, &written))
        return !sql_failed(store);
    return delete_row(store, user_id, id, written.thread_id);
}

bool note_has_old(struct store *store, const char *thread_id, int64_t before) {
    static struct statement s = {
        .sql = "SELECT 1 FROM note WHERE thread_id = ?1 AND created_at < ?2 LIMIT 1"};
    sql_start(store, &s, TEXT(thread_id), INTEGER(before));
    return row_exists(store, &s);
}

bool note_delete_old(struct store *store, const char *user_id, const char *thread_id,
                     int64_t before) {
    static struct statement s = {.sql =
                                     "DELETE FROM note WHERE thread_id = ?1 AND created_at < ?2"};
    return sql_run(store, &s, TEXT(thread_id), INTEGER(before)) &&
           (!sql_changes(store) || change_notes(store, user_id, thread_id));
}
