/* Reading messages and their statuses for an inbox. */
#include "store/inbox/inbox_row.h"

static struct statement *statement_of(enum inbox_order order) {
    static struct statement older = {
        .sql = "SELECT " INBOX_MESSAGE_COLUMNS
               " FROM message m WHERE m.thread_id = ?1 AND (m.timestamp, m.id) < (?2, ?3) "
               "ORDER BY m.timestamp DESC, m.id DESC LIMIT ?4"};
    static struct statement newer = {
        .sql = "SELECT " INBOX_MESSAGE_COLUMNS
               " FROM message m WHERE m.thread_id = ?1 AND (m.timestamp, m.id) > (?2, ?3) "
               "ORDER BY m.timestamp, m.id LIMIT ?4"};
    static struct statement changed = {
        .sql = "SELECT " INBOX_MESSAGE_COLUMNS
               " FROM message m WHERE m.thread_id = ?1 AND (m.changed, m.id) > (?2, ?3) "
               "ORDER BY m.changed, m.id LIMIT ?4"};
    return order == INBOX_OLDER ? &older : order == INBOX_NEWER ? &newer : &changed;
}

enum store_result inbox_list_messages(struct store *store, struct arena *arena,
                                      const char *thread_id, enum inbox_order order,
                                      const struct inbox_key *key, size_t limit,
                                      struct inbox_message **messages, size_t *count) {
    struct statement *s = statement_of(order);
    struct buffer rows = buffer_in(arena);
    sql_start(store, s, TEXT(thread_id), INTEGER(key->number), TEXT(key->id),
              INTEGER((int64_t)limit));
    while (sql_row(store, s)) {
        struct inbox_message message;
        inbox_read_message(s, arena, &message);
        buffer_add(&rows, &message, sizeof message);
    }
    *messages = (struct inbox_message *)(void *)rows.p;
    *count = rows.n / sizeof **messages;
    return sql_result(store);
}

enum store_result inbox_find_message(struct store *store, struct arena *arena, const char *user_id,
                                     const char *id, const char *wamid,
                                     struct inbox_message *message) {
    static struct statement by_id = {.sql = "SELECT " INBOX_MESSAGE_COLUMNS
                                            " FROM message m WHERE m.id = ?1 AND m.user_id = ?2"};
    static struct statement by_wamid = {
        .sql = "SELECT " INBOX_MESSAGE_COLUMNS " FROM account a JOIN line l ON l.account_id = a.id "
               "JOIN message m ON m.line_id = l.id AND m.wamid = ?1 "
               "WHERE a.user_id = ?2 ORDER BY m.id DESC LIMIT 1"};
    struct statement *s = id ? &by_id : &by_wamid;
    sql_start(store, s, TEXT(id ? id : wamid), TEXT(user_id));
    bool found = sql_row(store, s);
    if (found) {
        inbox_read_message(s, arena, message);
        sql_stop(s);
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

enum store_result inbox_list_statuses(struct store *store, struct arena *arena,
                                      const char *message_id, struct inbox_status **statuses,
                                      size_t *count) {
    static struct statement s = {
        .sql = "SELECT status, recipient, timestamp, received_at, body FROM message_status "
               "WHERE message_id = ?1 ORDER BY timestamp, received_at, status, recipient"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(message_id));
    while (sql_row(store, &s)) {
        const struct inbox_status status = {
            .status = column_text(&s, 0, arena),
            .recipient = column_text(&s, 1, arena),
            .timestamp = column_integer(&s, 2),
            .received_at = column_integer(&s, 3),
            .body = column_blob(&s, 4, arena),
        };
        buffer_add(&rows, &status, sizeof status);
    }
    *statuses = (struct inbox_status *)(void *)rows.p;
    *count = rows.n / sizeof **statuses;
    return sql_result(store);
}
