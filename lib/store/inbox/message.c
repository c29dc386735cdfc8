/* Reading messages and their statuses. */
#include <stdlib.h>

#include "engine/row.h"
#include "store/contact.h"
#include "store/inbox/thread.h"
#include "store/message.h"

#define OF(member) ROW_MEMBER(struct message, member)
const struct row_layout message_layout =
    ROW_LAYOUT(struct message, OF(id), OF(wamid), OF(thread_id), OF(line_id), OF(direction),
               OF(source), OF(type), OF(status), OF(status_at), OF(timestamp), OF(context_wamid),
               OF(body), OF(error), OF(change), OF(by.id), OF(by.name));

static struct statement *statement_of(enum message_order order) {
    static struct statement older = {
        .sql = "SELECT " MESSAGE_COLUMNS
               " FROM message m WHERE m.thread_id = ?1 AND (m.timestamp, m.id) < (?2, ?3) "
               "ORDER BY m.timestamp DESC, m.id DESC LIMIT ?4"};
    static struct statement newer = {
        .sql = "SELECT " MESSAGE_COLUMNS
               " FROM message m WHERE m.thread_id = ?1 AND (m.timestamp, m.id) > (?2, ?3) "
               "ORDER BY m.timestamp, m.id LIMIT ?4"};
    static struct statement changed = {
        .sql = "SELECT " MESSAGE_COLUMNS
               " FROM message m WHERE m.thread_id = ?1 AND (m.changed, m.id) > (?2, ?3) "
               "ORDER BY m.changed, m.id LIMIT ?4"};
    return order == MESSAGES_OLDER ? &older : order == MESSAGES_NEWER ? &newer : &changed;
}

/* Adds the rows of a thread after the key. */
static void add_messages(struct store *store, struct arena *arena, struct statement *s,
                         const char *thread_id, const struct list_key *key, size_t limit,
                         struct buffer *rows) {
    sql_start(store, s, TEXT(thread_id), INTEGER(key->number), TEXT(key->id),
              INTEGER((int64_t)limit));
    row_add(store, s, arena, &message_layout, rows);
}

enum store_result store_list_messages(struct store *store, struct arena *arena,
                                      const char *thread_id, enum message_order order,
                                      const struct list_key *key, size_t limit,
                                      struct message **messages, size_t *count) {
    struct buffer rows = buffer_in(arena);
    add_messages(store, arena, statement_of(order), thread_id, key, limit, &rows);
    *messages = buffer_array(&rows, sizeof **messages, count);
    return sql_result(store);
}

static int compare_messages(const void *a, const void *b) {
    const struct message *first = a, *second = b;
    if (first->timestamp != second->timestamp)
        return first->timestamp < second->timestamp ? -1 : 1;
    return strcmp(first->id, second->id);
}

/* Finds the message that a page begins after; STORE_CONFLICT: it is in none of the threads. */
static enum store_result find_key(struct store *store, struct arena *arena, const char *id,
                                  const struct contact_thread *threads, size_t count,
                                  struct list_key *key) {
    struct message message;
    enum store_result result =
        store_find_message(store, arena, WHOLE_VIEW(NULL), id, NULL, &message);
    if (result != STORE_OK)
        return result == STORE_NOT_FOUND ? STORE_CONFLICT : result;
    *key = (struct list_key){message.timestamp, message.id};
    for (size_t i = 0; i < count; i++)
        if (strcmp(threads[i].id, message.thread_id) == 0)
            return STORE_OK;
    return STORE_CONFLICT;
}

/* The first messages of all threads together contain the first messages of the contact. */
enum store_result store_list_contact_messages(struct store *store, struct arena *arena,
                                              const char *contact_id, const struct store_page *page,
                                              struct message **messages, size_t *count) {
    static struct statement s = {
        .sql = "SELECT " MESSAGE_COLUMNS_WITH(
            "NULL") " FROM message m WHERE m.thread_id = ?1 AND (m.timestamp, m.id) > (?2, ?3) "
                    "ORDER BY m.timestamp, m.id LIMIT ?4"};
    struct list_key key = {INT64_MIN, ""};
    struct buffer rows = buffer_in(arena);
    struct contact_thread *threads;
    size_t thread_count;
    enum store_result result = store_list_contact_threads(store, arena, WHOLE_VIEW(NULL),
                                                          contact_id, &threads, &thread_count);
    if (result == STORE_OK && page->after)
        result = find_key(store, arena, page->after, threads, thread_count, &key);
    for (size_t i = 0; result == STORE_OK && i < thread_count; i++)
        add_messages(store, arena, &s, threads[i].id, &key, page->limit, &rows);
    *messages = buffer_array(&rows, sizeof **messages, count);
    if (*count)
        qsort(*messages, *count, sizeof **messages, compare_messages);
    if (*count > page->limit)
        *count = page->limit;
    return result == STORE_OK ? sql_result(store) : result;
}

enum store_result store_find_message(struct store *store, struct arena *arena,
                                     const struct store_view *view, const char *id,
                                     const char *wamid, struct message *message) {
    static struct statement by_id = {.sql = "SELECT " MESSAGE_COLUMNS
                                            " FROM message m WHERE m.id = ?1 "
                                            "AND (m.user_id = ?2 OR ?2 IS NULL)"};
    static struct statement by_wamid = {
        .sql = "SELECT " MESSAGE_COLUMNS " FROM account a JOIN line l ON l.account_id = a.id "
               "JOIN message m ON m.line_id = l.id AND m.wamid = ?1 "
               "WHERE a.user_id = ?2 ORDER BY m.id DESC LIMIT 1"};
    static struct statement by_wamid_of_view = {
        .sql = "SELECT " MESSAGE_COLUMNS " FROM account a JOIN line l ON l.account_id = a.id "
               "JOIN message m ON m.line_id = l.id AND m.wamid = ?1 JOIN thread t "
               "ON t.id = m.thread_id WHERE a.user_id = ?2 AND " IN_VIEW(
                   "?3", "l.id", "?4", "t.assignee_id") " ORDER BY m.id DESC LIMIT 1"};
    const bool is_part = !id && !view_is_whole(view);
    struct statement *s = id ? &by_id : is_part ? &by_wamid_of_view : &by_wamid;
    const struct parameter parameters[] = {TEXT(id ? id : wamid), TEXT(view->user_id),
                                           TEXT(view->line_ids), TEXT(view->own_id)};
    sql_start_with(store, s, parameters, is_part ? 4 : 2);
    const bool found = row_find(store, s, arena, &message_layout, message);
    return sql_found(store, found && view_has_line(view, message->line_id) &&
                                thread_is_open(store, view, message->thread_id));
}

/* One step in the index for each line of the user, and for own threads at most 1,000 messages of
 * each. */
enum store_result store_is_foreign_media(struct store *store, const struct store_view *view,
                                         const char *media_id, bool *is_foreign) {
    static struct statement s = {
        .sql =
            "SELECT l.id, EXISTS (SELECT 1 FROM (SELECT m.thread_id "
            "FROM message m WHERE m.media_id = ?2 AND m.line_id = l.id LIMIT 1000) AS m "
            "JOIN thread t ON t.id = m.thread_id WHERE " HAS_ASSIGNEE(
                "?3",
                "t.assignee_id") ") "
                                 "FROM line l JOIN account a ON a.id = l.account_id "
                                 "WHERE a.user_id = ?1 AND (SELECT m.line_id FROM message m "
                                 "WHERE m.media_id = ?2 AND m.line_id = l.id LIMIT 1) IS NOT NULL"};
    bool is_own = view_is_whole(view), is_other = false;
    char line_id[ID_SIZE];
    sql_start(store, &s, TEXT(view->user_id), TEXT(media_id), TEXT(view->own_id));
    while (sql_row(store, &s)) {
        const bool has =
            column_id(&s, 0, line_id) && view_has_line(view, line_id) && column_integer(&s, 1);
        is_own |= has;
        is_other |= !has;
    }
    *is_foreign = is_other && !is_own;
    return sql_result(store);
}

#define OF_STATUS(member) ROW_MEMBER(struct message_status, member)
static const struct row_layout status_layout =
    ROW_LAYOUT(struct message_status, OF_STATUS(status), OF_STATUS(recipient), OF_STATUS(timestamp),
               OF_STATUS(received_at), OF_STATUS(body));

enum store_result store_list_statuses(struct store *store, struct arena *arena,
                                      const char *message_id, struct message_status **statuses,
                                      size_t *count) {
    static struct statement s = {
        .sql = "SELECT status, recipient, timestamp, received_at, body FROM message_status "
               "WHERE message_id = ?1 ORDER BY timestamp, received_at, status, recipient"};
    sql_start(store, &s, TEXT(message_id));
    *statuses = row_list(store, &s, arena, &status_layout, count);
    return sql_result(store);
}
