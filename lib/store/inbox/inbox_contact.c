/* Reading contacts, their blocks and threads for an inbox. */
#include "store/inbox/inbox_row.h"

static bool read_contact(struct store *store, struct arena *arena, const char *user_id,
                         const char *id, struct inbox_contact *contact) {
    static struct statement s = {
        .sql = "SELECT " INBOX_CONTACT_COLUMNS " FROM contact c JOIN account a "
               "ON a.id = c.account_id WHERE c.id = ?1 AND a.user_id = ?2"};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    if (!sql_row(store, &s))
        return false;
    inbox_read_contact(&s, 0, arena, contact);
    sql_stop(&s);
    return true;
}

static bool find_remaining(struct store *store, const char *id, char remaining[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT contact_id FROM contact_merge WHERE merged_id = ?1 LIMIT 1"};
    sql_start(store, &s, TEXT(id));
    return sql_read_id(store, &s, remaining);
}

bool inbox_contact_find(struct store *store, struct arena *arena, const char *user_id,
                        const char *id, struct inbox_contact *contact) {
    char remaining[ID_SIZE];
    return read_contact(store, arena, user_id, id, contact) ||
           (find_remaining(store, id, remaining) &&
            read_contact(store, arena, user_id, remaining, contact));
}

enum store_result inbox_find_contact(struct store *store, struct arena *arena, const char *user_id,
                                     const char *id, struct inbox_contact *contact) {
    const bool found = inbox_contact_find(store, arena, user_id, id, contact);
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

enum store_result inbox_list_contacts(struct store *store, struct arena *arena,
                                      const char *account_id, const char *after, size_t limit,
                                      struct inbox_contact **contacts, size_t *count) {
    static struct statement first = {.sql = "SELECT " INBOX_CONTACT_COLUMNS
                                            " FROM contact c WHERE c.account_id = ?1 "
                                            "ORDER BY c.id DESC LIMIT ?2"};
    static struct statement next = {.sql = "SELECT " INBOX_CONTACT_COLUMNS
                                           " FROM contact c WHERE c.account_id = ?1 "
                                           "AND c.id < ?3 ORDER BY c.id DESC LIMIT ?2"};
    const struct parameter parameters[] = {TEXT(account_id), INTEGER((int64_t)limit), TEXT(after)};
    struct statement *s = after ? &next : &first;
    struct buffer rows = buffer_in(arena);
    sql_start_with(store, s, parameters, after ? 3 : 2);
    while (sql_row(store, s)) {
        struct inbox_contact contact;
        inbox_read_contact(s, 0, arena, &contact);
        buffer_add(&rows, &contact, sizeof contact);
    }
    *contacts = (struct inbox_contact *)(void *)rows.p;
    *count = rows.n / sizeof **contacts;
    return sql_result(store);
}

enum store_result inbox_list_blocks(struct store *store, struct arena *arena,
                                    const char *contact_id, struct inbox_block **blocks,
                                    size_t *count) {
    static struct statement s = {
        .sql = "SELECT line_id, created_at FROM contact_block WHERE contact_id = ?1 "
               "ORDER BY line_id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(contact_id));
    while (sql_row(store, &s)) {
        const struct inbox_block block = {column_text(&s, 0, arena), column_integer(&s, 1)};
        buffer_add(&rows, &block, sizeof block);
    }
    *blocks = (struct inbox_block *)(void *)rows.p;
    *count = rows.n / sizeof **blocks;
    return sql_result(store);
}

enum store_result inbox_list_contact_threads(struct store *store, struct arena *arena,
                                             const char *contact_id,
                                             struct inbox_thread_key **threads, size_t *count) {
    static struct statement s = {
        .sql = "SELECT id, line_id, last_message_at FROM thread WHERE contact_id = ?1 "
               "ORDER BY id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(contact_id));
    while (sql_row(store, &s)) {
        const struct inbox_thread_key thread = {column_text(&s, 0, arena),
                                                column_text(&s, 1, arena), column_integer(&s, 2)};
        buffer_add(&rows, &thread, sizeof thread);
    }
    *threads = (struct inbox_thread_key *)(void *)rows.p;
    *count = rows.n / sizeof **threads;
    return sql_result(store);
}
