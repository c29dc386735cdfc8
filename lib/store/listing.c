#include "store/listing.h"

#include <stdlib.h>

#include "engine/sql.h"

/* Returns the last row added, of `size` bytes; NULL when there is none. */
static void *last_row(const struct buffer *rows, size_t size) {
    return rows->n ? rows->p + rows->n - size : NULL;
}

static void *add_row(struct buffer *rows, const void *row, size_t size) {
    buffer_add(rows, row, size);
    return last_row(rows, size);
}

static bool exists(struct store *store, struct statement *s, const char *id) {
    sql_start(store, s, TEXT(id));
    bool found = sql_row(store, s);
    if (found)
        sql_stop(s);
    return found;
}

/* The result of a listing below `id`: an empty listing may mean that the parent does not exist. */
static enum store_result list_result(struct store *store, size_t count, const char *id,
                                     struct statement *find_parent) {
    bool found = count || !id || exists(store, find_parent, id);
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

static struct statement find_account = {.sql = "SELECT 1 FROM account WHERE id = ?1"};

enum store_result store_find_user(struct store *store, const char *email, char id[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT id FROM \"user\" WHERE email = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(email));
    bool found = sql_read_id(store, &s, id);
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

static struct store_user_entry *add_user(struct buffer *users, struct statement *s,
                                         struct arena *arena) {
    struct store_user_entry user = {
        .id = column_text(s, 0, arena),
        .email = column_text(s, 1, arena),
        .default_account_id = column_text(s, 2, arena),
        .created_at = column_integer(s, 3),
    };
    return add_row(users, &user, sizeof user);
}

static void add_plan(struct buffer *plans, struct statement *s, struct arena *arena) {
    struct store_plan plan = {
        .name = column_text(s, 4, arena),
        .is_addon = column_integer(s, 5) != 0,
        .ends_at = column_time(s, 6),
    };
    add_row(plans, &plan, sizeof plan);
}

enum store_result store_list_users(struct store *store, struct arena *arena,
                                   struct store_user_entry **users, size_t *count) {
    static struct statement s = {
        .sql = "SELECT u.id, u.email, u.default_account_id, u.created_at, p.name, p.is_addon, "
               "p.ends_at FROM \"user\" u LEFT JOIN plan p ON p.user_id = u.id "
               "WHERE u.deleted_at IS NULL ORDER BY u.id, p.is_addon, p.name"};
    struct buffer rows = buffer_in(arena), plans = buffer_in(arena);
    sql_start_with(store, &s, NULL, 0);
    while (sql_row(store, &s)) {
        struct store_user_entry *user = last_row(&rows, sizeof *user);
        if (!user || strcmp(user->id, column_text(&s, 0, arena)) != 0)
            user = add_user(&rows, &s, arena);
        if (column_is_null(&s, 4))
            continue;
        add_plan(&plans, &s, arena);
        user->plan_count++;
    }
    *users = (struct store_user_entry *)(void *)rows.p;
    *count = rows.n / sizeof **users;
    const struct store_plan *next = (const struct store_plan *)(const void *)plans.p;
    for (size_t i = 0; i < *count; i++)
        if ((*users)[i].plan_count) {
            (*users)[i].plans = next;
            next += (*users)[i].plan_count;
        }
    return sql_result(store);
}

static void add_line(struct buffer *lines, struct statement *s, struct arena *arena) {
    struct store_line_entry line = {
        .id = column_text(s, 0, arena),
        .account_id = column_text(s, 1, arena),
        .phone_number_id = column_text(s, 2, arena),
        .phone_number = column_text(s, 3, arena),
        .name = column_text(s, 4, arena),
        .platform_type = column_text(s, 5, arena),
        .is_registered = column_integer(s, 6) != 0,
        .is_coexisting = column_integer(s, 7) != 0,
        .is_archived = !column_is_null(s, 8),
        .is_primary = column_integer(s, 9) != 0,
        .created_at = column_integer(s, 10),
    };
    add_row(lines, &line, sizeof line);
}

enum store_result store_list_account_lines(struct store *store, struct arena *arena,
                                           const char *account_id, struct store_line_entry **lines,
                                           size_t *count) {
    static struct statement s = {
        .sql = "SELECT l.id, l.account_id, l.phone_number_id, l.phone_number, l.name, "
               "l.platform_type, l.is_registered, l.is_coexisting, l.archived_at, "
               "u.primary_line_id = l.id, l.created_at FROM line l "
               "JOIN account a ON a.id = l.account_id JOIN \"user\" u ON u.id = a.user_id "
               "WHERE l.account_id = ?1 OR ?1 IS NULL ORDER BY l.id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(account_id));
    while (sql_row(store, &s))
        add_line(&rows, &s, arena);
    *lines = (struct store_line_entry *)(void *)rows.p;
    *count = rows.n / sizeof **lines;
    return list_result(store, *count, account_id, &find_account);
}

static struct store_contact *add_contact(struct buffer *contacts, struct statement *s,
                                         struct arena *arena) {
    struct store_contact contact = {
        .id = column_text(s, 0, arena),
        .account_id = column_text(s, 1, arena),
        .phone = column_text(s, 2, arena),
        .bsuid = column_text(s, 3, arena),
        .username = column_text(s, 4, arena),
        .name = column_text(s, 5, arena),
    };
    return add_row(contacts, &contact, sizeof contact);
}

/* Selects the page first, then only the threads of its contacts. */
#define CONTACT_PAGE(condition)                                                                    \
    "SELECT p.*, t.id, l.phone_number_id FROM (SELECT c.id, c.account_id, c.phone, c.bsuid, "      \
    "  c.username, c.name FROM contact c WHERE " condition " ORDER BY c.id LIMIT ?2) p "           \
    "LEFT JOIN thread t ON t.contact_id = p.id LEFT JOIN line l ON l.id = t.line_id "              \
    "ORDER BY p.id, t.id"

static void start_contacts(struct store *store, struct statement **s, const char *account_id,
                           const struct store_page *page) {
    static struct statement all = {.sql = CONTACT_PAGE("c.id > ?1")};
    static struct statement of_account = {.sql = CONTACT_PAGE("c.account_id = ?3 AND c.id > ?1")};
    const struct parameter parameters[] = {
        TEXT(page->after ? page->after : ""),
        INTEGER((int64_t)page->limit),
        TEXT(account_id),
    };
    *s = account_id ? &of_account : &all;
    sql_start_with(store, *s, parameters, account_id ? 3 : 2);
}

enum store_result store_list_contacts(struct store *store, struct arena *arena,
                                      const char *account_id, const struct store_page *page,
                                      struct store_contact **contacts, size_t *count) {
    struct statement *s;
    struct buffer rows = buffer_in(arena), threads = buffer_in(arena);
    start_contacts(store, &s, account_id, page);
    while (sql_row(store, s)) {
        struct store_contact *contact = last_row(&rows, sizeof *contact);
        if (!contact || strcmp(contact->id, column_text(s, 0, arena)) != 0)
            contact = add_contact(&rows, s, arena);
        if (column_is_null(s, 6))
            continue;
        add_row(&threads,
                &(struct store_thread){column_text(s, 6, arena), column_text(s, 7, arena)},
                sizeof(struct store_thread));
        contact->thread_count++;
    }
    *contacts = (struct store_contact *)(void *)rows.p;
    *count = rows.n / sizeof **contacts;
    const struct store_thread *next = (const struct store_thread *)(const void *)threads.p;
    for (size_t i = 0; i < *count; i++)
        if ((*contacts)[i].thread_count) {
            (*contacts)[i].threads = next;
            next += (*contacts)[i].thread_count;
        }
    return list_result(store, *count, account_id, &find_account);
}

/* The message that a page begins after. */
struct message_key {
    int64_t timestamp;
    const char *id;
};

static bool find_key(struct store *store, const char *contact_id, const char *id,
                     struct message_key *key) {
    static struct statement s = {.sql = "SELECT m.timestamp FROM message m "
                                        "JOIN thread t ON t.id = m.thread_id "
                                        "WHERE m.id = ?1 AND t.contact_id = ?2"};
    if (!id)
        return true;
    sql_start(store, &s, TEXT(id), TEXT(contact_id));
    if (!sql_row(store, &s))
        return false;
    *key = (struct message_key){column_integer(&s, 0), id};
    sql_stop(&s);
    return true;
}

static void add_message(struct buffer *messages, struct statement *s, struct arena *arena) {
    struct store_message message = {
        .id = column_text(s, 0, arena),
        .thread_id = column_text(s, 1, arena),
        .wamid = column_text(s, 2, arena),
        .direction = column_text(s, 3, arena),
        .type = column_text(s, 4, arena),
        .status = column_text(s, 5, arena),
        .timestamp = column_integer(s, 6),
        .error = column_blob(s, 7, arena),
    };
    add_row(messages, &message, sizeof message);
}

/* Adds the first messages of one thread after the key. */
static void add_messages(struct store *store, struct arena *arena, const char *thread_id,
                         const struct message_key *key, size_t limit, struct buffer *messages) {
    static struct statement s = {
        .sql = "SELECT id, thread_id, wamid, direction, type, status, timestamp, error "
               "FROM message WHERE thread_id = ?1 AND (timestamp, id) > (?2, ?3) "
               "ORDER BY timestamp, id LIMIT ?4"};
    sql_start(store, &s, TEXT(thread_id), INTEGER(key->timestamp), TEXT(key->id),
              INTEGER((int64_t)limit));
    while (sql_row(store, &s))
        add_message(messages, &s, arena);
}

/* Adds the ids of the contact's threads. */
static void find_threads(struct store *store, struct arena *arena, const char *contact_id,
                         struct buffer *ids) {
    static struct statement s = {.sql = "SELECT id FROM thread WHERE contact_id = ?1"};
    sql_start(store, &s, TEXT(contact_id));
    while (sql_row(store, &s)) {
        const char *id = column_text(&s, 0, arena);
        buffer_add(ids, &id, sizeof id);
    }
}

static int compare_messages(const void *a, const void *b) {
    const struct store_message *first = a, *second = b;
    if (first->timestamp != second->timestamp)
        return first->timestamp < second->timestamp ? -1 : 1;
    return strcmp(first->id, second->id);
}

/* The first messages of all threads together contain the first messages of the contact. */
enum store_result store_list_messages(struct store *store, struct arena *arena,
                                      const char *contact_id, const struct store_page *page,
                                      struct store_message **messages, size_t *count) {
    static struct statement find_contact = {.sql = "SELECT 1 FROM contact WHERE id = ?1"};
    struct buffer rows = buffer_in(arena), ids = buffer_in(arena);
    struct message_key key = {INT64_MIN, ""};
    store_hold_view(store);
    bool has_contact = exists(store, &find_contact, contact_id);
    bool has_key = has_contact && find_key(store, contact_id, page->after, &key);
    if (has_key)
        find_threads(store, arena, contact_id, &ids);
    const char *const *threads = (const char *const *)(void *)ids.p;
    for (size_t i = 0; i < ids.n / sizeof *threads; i++)
        add_messages(store, arena, threads[i], &key, page->limit, &rows);
    store_release_view(store);
    *messages = (struct store_message *)(void *)rows.p;
    *count = rows.n / sizeof **messages;
    if (*count)
        qsort(*messages, *count, sizeof **messages, compare_messages);
    if (*count > page->limit)
        *count = page->limit;
    enum store_result result = sql_result(store);
    if (result != STORE_OK)
        return result;
    return has_key ? STORE_OK : has_contact ? STORE_CONFLICT : STORE_NOT_FOUND;
}
