/* Reading threads for an inbox. Lists select the keys of threads from an index; each thread is then
 * completed by its keys. */
#include "engine/sql.h"
#include "store/inbox.h"

/* --- one thread --- */

/* Reads the thread's own columns, its line and its contact; id is NULL when there is none. */
static void read_thread(struct store *store, struct arena *arena, const char *user_id,
                        const char *id, struct inbox_thread *thread) {
    static struct statement s = {
        .sql = "SELECT t.id, t.unread, t.last_message_at, t.last_inbound_at, t.changed, "
               "EXISTS (SELECT 1 FROM contact_block b "
               "        WHERE b.line_id = t.line_id AND b.contact_id = t.contact_id), " LINE_COLUMNS
               ", " CONTACT_COLUMNS " FROM thread t JOIN line l ON l.id = t.line_id JOIN contact c "
               "ON c.id = t.contact_id WHERE t.id = ?1 AND t.user_id = ?2"};
    *thread = (struct inbox_thread){0};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    if (!sql_row(store, &s))
        return;
    thread->id = column_text(&s, 0, arena);
    thread->unread = column_integer(&s, 1);
    thread->last_message_at = column_integer(&s, 2);
    thread->last_inbound_at = column_is_null(&s, 3) ? INT64_MIN : column_integer(&s, 3);
    thread->change = column_integer(&s, 4);
    thread->is_blocked = column_integer(&s, 5) != 0;
    thread->line = line_of_row(&s, 6, arena);
    thread->contact = contact_of_row(&s, 6 + LINE_COLUMN_COUNT, arena);
    sql_stop(&s);
}

static void read_last_message(struct store *store, struct arena *arena,
                              struct inbox_thread *thread) {
    static struct statement s = {.sql = "SELECT " MESSAGE_COLUMNS
                                        " FROM message m WHERE m.thread_id = ?1 "
                                        "ORDER BY m.timestamp DESC, m.id DESC LIMIT 1"};
    sql_start(store, &s, TEXT(thread->id));
    if (!sql_row(store, &s))
        return;
    thread->last = message_of_row(&s, arena);
    sql_stop(&s);
}

static void read_former_ids(struct store *store, struct arena *arena, struct inbox_thread *thread) {
    static struct statement s = {.sql = "SELECT id FROM thread_alias WHERE thread_id = ?1"};
    struct buffer ids = buffer_in(arena);
    sql_start(store, &s, TEXT(thread->id));
    while (sql_row(store, &s)) {
        const char *id = column_text(&s, 0, arena);
        buffer_add(&ids, &id, sizeof id);
    }
    thread->former_ids = (const char **)(void *)ids.p;
    thread->former_count = ids.n / sizeof *thread->former_ids;
}

/* Reads the whole thread; false when there is none. */
static bool read_whole(struct store *store, struct arena *arena, const char *user_id,
                       const char *id, struct inbox_thread *thread) {
    read_thread(store, arena, user_id, id, thread);
    if (!thread->id)
        return false;
    read_last_message(store, arena, thread);
    read_former_ids(store, arena, thread);
    return true;
}

static bool find_alias(struct store *store, const char *user_id, const char *id,
                       char thread_id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT thread_id FROM thread_alias WHERE id = ?1 AND user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    return sql_read_id(store, &s, thread_id);
}

enum store_result inbox_find_thread(struct store *store, struct arena *arena, const char *user_id,
                                    const char *id, struct inbox_thread *thread) {
    char remaining[ID_SIZE];
    bool found = read_whole(store, arena, user_id, id, thread) ||
                 (find_alias(store, user_id, id, remaining) &&
                  read_whole(store, arena, user_id, remaining, thread));
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

/* --- lists --- */

/* Reads the threads whose ids the statement selects, which has been started. */
static enum store_result read_listed(struct store *store, struct arena *arena, const char *user_id,
                                     struct statement *s, struct inbox_thread **threads,
                                     size_t *count) {
    struct buffer ids = buffer_in(arena), rows = buffer_in(arena);
    while (sql_row(store, s)) {
        const char *id = column_text(s, 0, arena);
        buffer_add(&ids, &id, sizeof id);
    }
    const char *const *id = (const char *const *)(void *)ids.p;
    for (size_t i = 0; i < ids.n / sizeof *id; i++) {
        struct inbox_thread thread;
        if (read_whole(store, arena, user_id, id[i], &thread))
            buffer_add(&rows, &thread, sizeof thread);
    }
    *threads = (struct inbox_thread *)(void *)rows.p;
    *count = rows.n / sizeof **threads;
    return sql_result(store);
}

enum store_result inbox_list_threads(struct store *store, struct arena *arena,
                                     const struct inbox_filter *filter,
                                     const struct list_key *after, struct inbox_thread **threads,
                                     size_t *count) {
    static struct statement of_user = {
        .sql = "SELECT id FROM thread WHERE user_id = ?1 AND (last_message_at, id) < (?2, ?3) "
               "ORDER BY last_message_at DESC, id DESC LIMIT ?4"};
    static struct statement of_line = {
        .sql = "SELECT id FROM thread WHERE line_id = ?1 AND (last_message_at, id) < (?2, ?3) "
               "ORDER BY last_message_at DESC, id DESC LIMIT ?4"};
    static struct statement unread = {
        .sql = "SELECT id FROM thread WHERE user_id = ?1 AND unread > 0 "
               "AND (last_message_at, id) < (?2, ?3) AND (line_id = ?5 OR ?5 IS NULL) "
               "ORDER BY last_message_at DESC, id DESC LIMIT ?4"};
    const bool is_of_line = filter->line_id && !filter->is_unread;
    const struct parameter parameters[] = {
        TEXT(is_of_line ? filter->line_id : filter->user_id),
        INTEGER(after ? after->number : INT64_MAX),
        TEXT(after ? after->id : ""),
        INTEGER((int64_t)filter->limit),
        TEXT(filter->line_id),
    };
    struct statement *s = filter->is_unread ? &unread : is_of_line ? &of_line : &of_user;
    sql_start_with(store, s, parameters, filter->is_unread ? 5 : 4);
    return read_listed(store, arena, filter->user_id, s, threads, count);
}

enum store_result inbox_list_changes(struct store *store, struct arena *arena, const char *user_id,
                                     int64_t after, size_t limit, struct inbox_thread **threads,
                                     size_t *count) {
    static struct statement s = {.sql = "SELECT id FROM thread WHERE user_id = ?1 AND changed > ?2 "
                                        "ORDER BY changed LIMIT ?3"};
    sql_start(store, &s, TEXT(user_id), INTEGER(after), INTEGER((int64_t)limit));
    return read_listed(store, arena, user_id, &s, threads, count);
}

enum store_result inbox_last_change(struct store *store, const char *user_id, int64_t *change) {
    static struct statement s = {.sql = "SELECT change_sequence FROM \"user\" WHERE id = ?1"};
    *change = 0;
    sql_start(store, &s, TEXT(user_id));
    if (sql_row(store, &s)) {
        *change = column_integer(&s, 0);
        sql_stop(&s);
    }
    return sql_result(store);
}
