/* Reading threads for an inbox. Lists select the keys of threads from an index; each thread is then
 * completed by its keys. */
#include <stdlib.h>

#include "engine/row.h"
#include "store/inbox.h"

/* --- one thread --- */

#define OF(member)      ROW_MEMBER(struct inbox_thread, member)
#define TIME_OF(member) ROW_TIME_MEMBER(struct inbox_thread, member)
static const struct row_layout thread_layout =
    ROW_LAYOUT(struct inbox_thread, OF(id), OF(unread), OF(last_message_at), OF(last_inbound_at),
               OF(change), TIME_OF(waiting_since), TIME_OF(failed_at), TIME_OF(done_at),
               OF(is_blocked), TIME_OF(notes_change), OF(assignee.id), OF(assignee.name),
               TIME_OF(typing_until), OF(typing.id), OF(typing.name));

/* Reads the thread's own columns, its line and its contact; id is NULL when there is none. */
static void read_thread(struct store *store, struct arena *arena, const struct store_view *view,
                        const char *id, struct inbox_thread *thread) {
    static struct statement s = {
        .sql = "SELECT t.id, t.unread, t.last_message_at, t.last_inbound_at, t.changed, "
               "t.waiting_since, t.failed_at, t.done_at, "
               "EXISTS (SELECT 1 FROM contact_block b "
               "        WHERE b.line_id = t.line_id AND b.contact_id = t.contact_id), "
               "t.notes_changed, t.assignee_id, (SELECT m.name FROM member m WHERE m.id = "
               "t.assignee_id), t.typing_until, w.id, w.name, " LINE_COLUMNS ", " CONTACT_COLUMNS
               " FROM thread t JOIN line l ON l.id = t.line_id JOIN contact c "
               "ON c.id = t.contact_id LEFT JOIN membership p ON p.user_id = t.user_id "
               "AND p.member_id = t.typing_by LEFT JOIN member w ON w.id = p.member_id WHERE t.id "
               "= ?1 AND t.user_id = ?2"};
    *thread = (struct inbox_thread){0};
    sql_start(store, &s, TEXT(id), TEXT(view->user_id));
    if (!sql_row(store, &s))
        return;
    row_read(&s, 0, arena, &thread_layout, thread);
    if (column_is_null(&s, 3))
        thread->last_inbound_at = INT64_MIN;
    row_read(&s, 15, arena, &line_layout, &thread->line);
    row_read(&s, 15 + line_layout.count, arena, &contact_layout, &thread->contact);
    if (thread->line.archived_at != INT64_MAX) /* it cannot send */
        thread->waiting_since = INT64_MAX;
    sql_stop(&s);
}

static void read_last_message(struct store *store, struct arena *arena,
                              struct inbox_thread *thread) {
    static struct statement s = {.sql = "SELECT " MESSAGE_COLUMNS
                                        " FROM message m WHERE m.thread_id = ?1 "
                                        "ORDER BY m.timestamp DESC, m.id DESC LIMIT 1"};
    sql_start(store, &s, TEXT(thread->id));
    row_find(store, &s, arena, &message_layout, &thread->last);
}

static void read_former_ids(struct store *store, struct arena *arena, struct inbox_thread *thread) {
    static struct statement s = {.sql = "SELECT id FROM thread_alias WHERE thread_id = ?1"};
    sql_start(store, &s, TEXT(thread->id));
    thread->former_ids = sql_read_ids(store, &s, arena, &thread->former_count);
}

/* Reads the whole thread; false when the view has none. */
static bool read_whole(struct store *store, struct arena *arena, const struct store_view *view,
                       const char *id, struct inbox_thread *thread) {
    read_thread(store, arena, view, id, thread);
    if (!thread->id || !view_has_line(view, thread->line.id) ||
        !view_has_assignee(view, thread->assignee.id))
        return false;
    read_last_message(store, arena, thread);
    read_former_ids(store, arena, thread);
    return true;
}

static bool find_alias(struct store *store, const struct store_view *view, const char *id,
                       char thread_id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT thread_id FROM thread_alias WHERE id = ?1 AND user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(view->user_id));
    return sql_read_id(store, &s, thread_id);
}

enum store_result inbox_find_thread(struct store *store, struct arena *arena,
                                    const struct store_view *view, const char *id,
                                    struct inbox_thread *thread) {
    char remaining[ID_SIZE];
    bool found = read_whole(store, arena, view, id, thread) ||
                 (find_alias(store, view, id, remaining) &&
                  read_whole(store, arena, view, remaining, thread));
    return sql_found(store, found);
}

bool inbox_has_thread(struct store *store, struct arena *arena, const struct store_view *view,
                      const char *id) {
    struct inbox_thread thread;
    return view_is_whole(view) || inbox_find_thread(store, arena, view, id, &thread) == STORE_OK;
}

/* --- lists --- */

/* Reads the threads of the keys. */
static enum store_result read_keys(struct store *store, struct arena *arena,
                                   const struct store_view *view, const struct list_key *keys,
                                   size_t key_count, struct inbox_thread **threads, size_t *count) {
    struct buffer rows = buffer_in(arena);
    for (size_t i = 0; i < key_count; i++) {
        struct inbox_thread thread;
        if (read_whole(store, arena, view, keys[i].id, &thread))
            buffer_add(&rows, &thread, sizeof thread);
    }
    *threads = buffer_array(&rows, sizeof **threads, count);
    return sql_result(store);
}

/* The keys that statements select. */
static const struct row_layout key_layout = ROW_LAYOUT(
    struct list_key, ROW_MEMBER(struct list_key, id), ROW_MEMBER(struct list_key, number));

/* Adds the keys of threads that are wanted on a line, NULL: on any one. */
typedef void key_adder(struct store *store, struct arena *arena, const struct inbox_filter *filter,
                       const char *line_id, const struct list_key *after, struct buffer *keys);

/* The same for a view, which may have the threads of one member and those of none: each of the two
 * has its place in the indexes. */
static void add_visible(struct store *store, struct arena *arena, const struct inbox_filter *filter,
                        const char *line_id, const struct list_key *after, struct buffer *keys,
                        key_adder *add) {
    const char *const visible[] = {filter->view->own_id, ""};
    struct inbox_filter part = *filter;
    if (!filter->view->own_id)
        add(store, arena, filter, line_id, after, keys);
    for (size_t i = 0; filter->view->own_id && i < 2; i++) {
        part.assignee = visible[i];
        if (!filter->assignee || strcmp(filter->assignee, part.assignee) == 0)
            add(store, arena, &part, line_id, after, keys);
    }
}

/* --- threads that wait for an answer: those of each line that is not archived, merged --- */

static int compare_keys(const void *a, const void *b) {
    const struct list_key *first = a, *second = b;
    if (first->number != second->number)
        return first->number < second->number ? -1 : 1;
    return strcmp(first->id, second->id);
}

static void add_waiting(struct store *store, struct arena *arena, const struct inbox_filter *filter,
                        const char *line_id, const struct list_key *after, struct buffer *keys) {
    static struct statement s = {
        .sql = "SELECT id, waiting_since FROM thread WHERE line_id = ?1 AND "
               "waiting_since IS NOT NULL AND (waiting_since, id) > (?2, ?3) "
               "AND (?5 = 0 OR unread > 0) AND (?6 = 0 OR failed_at IS NOT NULL) "
               "AND (coalesce(assignee_id, '') = ?7 OR ?7 IS NULL) "
               "ORDER BY waiting_since, id LIMIT ?4"};
    sql_start(store, &s, TEXT(line_id), INTEGER(after ? after->number : INT64_MIN),
              TEXT(after ? after->id : ""), INTEGER((int64_t)filter->limit),
              INTEGER(filter->is_unread), INTEGER(filter->is_failed), TEXT(filter->assignee));
    row_add(store, &s, arena, &key_layout, keys);
}

static enum store_result list_waiting(struct store *store, struct arena *arena,
                                      const struct inbox_filter *filter,
                                      const struct list_key *after, struct inbox_thread **threads,
                                      size_t *count) {
    const struct line_filter wanted = {filter->view, .is_without_archived = true};
    struct buffer rows = buffer_in(arena);
    struct line *lines;
    size_t line_count;
    enum store_result result = store_list_lines(store, arena, &wanted, &lines, &line_count);
    if (result != STORE_OK)
        return result;
    for (size_t i = 0; i < line_count; i++)
        if (!filter->line_id || strcmp(filter->line_id, lines[i].id) == 0)
            add_visible(store, arena, filter, lines[i].id, after, &rows, add_waiting);
    struct list_key *keys = (struct list_key *)(void *)rows.p;
    const size_t n = rows.n / sizeof *keys;
    if (n)
        qsort(keys, n, sizeof *keys, compare_keys);
    return read_keys(store, arena, filter->view, keys, n < filter->limit ? n : filter->limit,
                     threads, count);
}

/* --- the other lists --- */

#define OF_PART      "AND (last_message_at, id) < (?2, ?3) AND (line_id = ?5 OR ?5 IS NULL) "
#define NEWEST_FIRST "ORDER BY last_message_at DESC, id DESC LIMIT ?4"

/* Adds the keys of the threads that are wanted, of one line or with NULL of all. */
static void add_wanted(struct store *store, struct arena *arena, const struct inbox_filter *filter,
                       const char *line_id, const struct list_key *after, struct buffer *keys) {
    static struct statement of_user = {
        .sql = "SELECT id, last_message_at FROM thread WHERE user_id = ?1 "
               "AND (last_message_at, id) < (?2, ?3) " NEWEST_FIRST};
    static struct statement of_line = {
        .sql = "SELECT id, last_message_at FROM thread WHERE line_id = ?1 "
               "AND (last_message_at, id) < (?2, ?3) " NEWEST_FIRST};
    static struct statement unread = {
        .sql = "SELECT id, last_message_at FROM thread WHERE user_id = ?1 AND unread > 0 " OF_PART
               "AND (coalesce(assignee_id, '') = ?6 OR ?6 IS NULL) " NEWEST_FIRST};
    static struct statement failed = {
        .sql = "SELECT id, last_message_at FROM thread WHERE user_id = ?1 "
               "AND failed_at IS NOT NULL " OF_PART
               "AND (coalesce(assignee_id, '') = ?6 OR ?6 IS NULL) "
               "AND (?7 = 0 OR unread > 0) " NEWEST_FIRST};
    static struct statement assigned = {
        .sql = "SELECT id, last_message_at FROM thread WHERE user_id = ?1 "
               "AND assignee_id = ?6 " OF_PART NEWEST_FIRST};
    static struct statement unassigned = {
        .sql = "SELECT id, last_message_at FROM thread WHERE user_id = ?1 "
               "AND assignee_id IS NULL " OF_PART NEWEST_FIRST};
    const bool is_part = filter->is_unread || filter->is_failed || filter->assignee;
    const bool is_of_line = line_id && !is_part;
    const struct parameter parameters[] = {
        TEXT(is_of_line ? line_id : filter->view->user_id),
        INTEGER(after ? after->number : INT64_MAX),
        TEXT(after ? after->id : ""),
        INTEGER((int64_t)filter->limit),
        TEXT(line_id),
        TEXT(filter->assignee),
        INTEGER(filter->is_unread),
    };
    const struct choice {
        bool is_wanted;
        struct statement *statement;
        size_t parameters;
    } choices[] = {
        {filter->is_failed, &failed, 7},
        {filter->is_unread, &unread, 6},
        {filter->assignee && *filter->assignee, &assigned, 6},
        {filter->assignee, &unassigned, 5},
        {is_of_line, &of_line, 4},
        {true, &of_user, 4},
    };
    const struct choice *choice = choices;
    while (!choice->is_wanted)
        choice++;
    sql_start_with(store, choice->statement, parameters, choice->parameters);
    row_add(store, choice->statement, arena, &key_layout, keys);
}

static int compare_newest(const void *a, const void *b) {
    return compare_keys(b, a);
}

/* Of a choice of lines: those of each line. */
static void add_of_lines(struct store *store, struct arena *arena,
                         const struct inbox_filter *filter, const struct list_key *after,
                         struct buffer *rows) {
    struct line *lines;
    size_t count;
    if (store_list_lines(store, arena, &(struct line_filter){.view = filter->view}, &lines,
                         &count) != STORE_OK)
        return;
    for (size_t i = 0; i < count; i++)
        add_visible(store, arena, filter, lines[i].id, after, rows, add_wanted);
}

void inbox_list_keys(struct store *store, struct arena *arena, const struct inbox_filter *filter,
                     const struct list_key *after, struct buffer *keys) {
    if (filter->view->line_ids && !filter->line_id)
        add_of_lines(store, arena, filter, after, keys);
    else
        add_visible(store, arena, filter, filter->line_id, after, keys, add_wanted);
    if (!view_is_whole(filter->view) && keys->n)
        qsort(keys->p, keys->n / sizeof(struct list_key), sizeof(struct list_key), compare_newest);
}

enum store_result inbox_list_threads(struct store *store, struct arena *arena,
                                     const struct inbox_filter *filter,
                                     const struct list_key *after, struct inbox_thread **threads,
                                     size_t *count) {
    struct buffer rows = buffer_in(arena);
    if (filter->is_waiting)
        return list_waiting(store, arena, filter, after, threads, count);
    inbox_list_keys(store, arena, filter, after, &rows);
    const size_t n = rows.n / sizeof(struct list_key);
    return read_keys(store, arena, filter->view, (const struct list_key *)(const void *)rows.p,
                     n < filter->limit ? n : filter->limit, threads, count);
}

/* --- changes --- */

/* Reads the thread of a change: whole, or what is said of one that has left the view. False: it is
 * on no line of the view. */
static bool read_changed(struct store *store, struct arena *arena, const struct store_view *view,
                         const char *id, struct inbox_thread *thread) {
    if (read_whole(store, arena, view, id, thread))
        return true;
    if (!thread->id || !view_has_line(view, thread->line.id))
        return false;
    *thread = (struct inbox_thread){.id = thread->id, .change = thread->change, .is_hidden = true};
    read_former_ids(store, arena, thread);
    return true;
}

enum store_result inbox_list_changes(struct store *store, struct arena *arena,
                                     const struct store_view *view, int64_t after, size_t limit,
                                     struct inbox_thread **threads, size_t *count) {
    static struct statement s = {
        .sql = "SELECT id, changed FROM thread WHERE user_id = ?1 AND changed > ?2 "
               "ORDER BY changed LIMIT ?3"};
    static struct statement of_view = {
        .sql = "SELECT id, changed FROM thread WHERE user_id = ?1 AND " HAS_LINE(
            "?4",
            "line_id") " AND (" HAS_ASSIGNEE("?5",
                                             "assignee_id") " OR "
                                                            "assigned_changed > ?2) AND changed > "
                                                            "?2 ORDER BY changed LIMIT ?3"};
    const struct parameter parameters[] = {TEXT(view->user_id), INTEGER(after),
                                           INTEGER((int64_t)limit), TEXT(view->line_ids),
                                           TEXT(view->own_id)};
    const bool is_whole = view_is_whole(view);
    struct statement *wanted = is_whole ? &s : &of_view;
    struct buffer rows = buffer_in(arena);
    size_t key_count;
    sql_start_with(store, wanted, parameters, is_whole ? 3 : 5);
    const struct list_key *keys = row_list(store, wanted, arena, &key_layout, &key_count);
    for (size_t i = 0; i < key_count; i++) {
        struct inbox_thread thread;
        if (read_changed(store, arena, view, keys[i].id, &thread))
            buffer_add(&rows, &thread, sizeof thread);
    }
    *threads = buffer_array(&rows, sizeof **threads, count);
    return sql_result(store);
}

/* --- counts --- */

#define COUNTED(condition)                                                                         \
    "SELECT "                                                                                      \
    "(SELECT count(*) FROM (SELECT 1 FROM thread WHERE " condition "user_id = ?1 AND unread > 0 "  \
    "ORDER BY last_message_at LIMIT ?2) AS counted), "                                             \
    "(SELECT count(*) FROM (SELECT 1 FROM thread WHERE " condition "user_id = ?1 "                 \
    "AND failed_at IS NOT NULL ORDER BY last_message_at LIMIT ?2) AS counted), "                   \
    "(SELECT count(*) FROM (SELECT 1 FROM account a JOIN line l ON l.account_id = a.id "           \
    "JOIN thread t ON t.line_id = l.id WHERE " condition                                           \
    "a.user_id = ?1 AND l.archived_at IS NULL "                                                    \
    "AND t.waiting_since IS NOT NULL LIMIT ?2) AS counted), "                                      \
    "(SELECT min((SELECT min(t.waiting_since) FROM thread t WHERE " condition "t.line_id = l.id "  \
    "AND t.waiting_since IS NOT NULL)) "                                                           \
    "FROM account a JOIN line l ON l.account_id = a.id WHERE a.user_id = ?1 AND "                  \
    "l.archived_at IS NULL)"

#define OF_COUNTS(member) ROW_MEMBER(struct inbox_counts, member)
static const struct row_layout counts_layout =
    ROW_LAYOUT(struct inbox_counts, OF_COUNTS(unread), OF_COUNTS(failed), OF_COUNTS(waiting),
               ROW_TIME_MEMBER(struct inbox_counts, waiting_since));

/* The order chooses the index that has the counted rows only. */
enum store_result inbox_count(struct store *store, const struct store_view *view,
                              struct inbox_counts *counts) {
    static struct statement s = {.sql = COUNTED("")};
    static struct statement of_view = {
        .sql = COUNTED(IN_VIEW("?3", "line_id", "?4", "assignee_id") " AND ")};
    const struct parameter parameters[] = {TEXT(view->user_id), INTEGER(COUNTED_MOST),
                                           TEXT(view->line_ids), TEXT(view->own_id)};
    const bool is_whole = view_is_whole(view);
    struct statement *wanted = is_whole ? &s : &of_view;
    *counts = (struct inbox_counts){.waiting_since = INT64_MAX};
    sql_start_with(store, wanted, parameters, is_whole ? 2 : 4);
    row_find(store, wanted, NULL, &counts_layout, counts);
    return sql_result(store);
}

enum store_result inbox_last_change(struct store *store, const struct store_view *view,
                                    int64_t *change) {
    static struct statement s = {.sql = "SELECT change_sequence FROM \"user\" WHERE id = ?1"};
    sql_start(store, &s, TEXT(view->user_id));
    *change = row_integer(store, &s, 0);
    return sql_result(store);
}
