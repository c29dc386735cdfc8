#include "store/listing.h"

#include <stdio.h>

#include "store/sqlite.h"

/* The row added last, of `size` bytes; NULL when there is none yet. */
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

/* The result of a listing below `id`: an empty one may be because there is no such parent. */
static enum store_result finish(struct store *store, size_t count, const char *id,
                                struct statement *find_parent) {
    bool found = count || !id || exists(store, find_parent, id);
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}

static struct statement find_account = {.sql = "SELECT 1 FROM account WHERE id = ?1"};

enum store_result store_find_user(struct store *store, const char *email, char id[ID_SIZE]) {
    static struct statement s = {.sql =
                                     "SELECT id FROM user WHERE email = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(email));
    bool found = sql_row(store, &s);
    if (found) {
        const unsigned char *text = sqlite3_column_text(s.prepared, 0);
        snprintf(id, ID_SIZE, "%s", text ? (const char *)text : "");
        sql_stop(&s);
    }
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
        .ends_at = column_is_null(s, 6) ? INT64_MAX : column_integer(s, 6),
    };
    add_row(plans, &plan, sizeof plan);
}

enum store_result store_list_users(struct store *store, struct arena *arena,
                                   struct store_user_entry **users, size_t *count) {
    static struct statement s = {
        .sql = "SELECT u.id, u.email, u.default_account_id, u.created_at, p.name, p.is_addon, "
               "p.ends_at FROM user u LEFT JOIN plan p ON p.user_id = u.id "
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
               "JOIN account a ON a.id = l.account_id JOIN user u ON u.id = a.user_id "
               "WHERE ?1 IS NULL OR l.account_id = ?1 ORDER BY l.id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(account_id));
    while (sql_row(store, &s))
        add_line(&rows, &s, arena);
    *lines = (struct store_line_entry *)(void *)rows.p;
    *count = rows.n / sizeof **lines;
    return finish(store, *count, account_id, &find_account);
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

enum store_result store_list_contacts(struct store *store, struct arena *arena,
                                      const char *account_id, struct store_contact **contacts,
                                      size_t *count) {
    static struct statement s = {
        .sql = "SELECT c.id, c.account_id, c.phone, c.bsuid, c.username, c.name, t.id, "
               "l.phone_number_id FROM contact c LEFT JOIN thread t ON t.contact_id = c.id "
               "LEFT JOIN line l ON l.id = t.line_id "
               "WHERE ?1 IS NULL OR c.account_id = ?1 ORDER BY c.id, t.id"};
    struct buffer rows = buffer_in(arena), threads = buffer_in(arena);
    sql_start(store, &s, TEXT(account_id));
    while (sql_row(store, &s)) {
        struct store_contact *contact = last_row(&rows, sizeof *contact);
        if (!contact || strcmp(contact->id, column_text(&s, 0, arena)) != 0)
            contact = add_contact(&rows, &s, arena);
        if (column_is_null(&s, 6))
            continue;
        add_row(&threads,
                &(struct store_thread){column_text(&s, 6, arena), column_text(&s, 7, arena)},
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
    return finish(store, *count, account_id, &find_account);
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

enum store_result store_list_messages(struct store *store, struct arena *arena,
                                      const char *contact_id, struct store_message **messages,
                                      size_t *count) {
    static struct statement s = {
        .sql = "SELECT m.id, m.thread_id, m.wamid, m.direction, m.type, m.status, m.timestamp, "
               "m.error FROM thread t JOIN message m ON m.thread_id = t.id "
               "WHERE t.contact_id = ?1 ORDER BY m.timestamp, m.id"};
    static struct statement find_contact = {.sql = "SELECT 1 FROM contact WHERE id = ?1"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(contact_id));
    while (sql_row(store, &s))
        add_message(&rows, &s, arena);
    *messages = (struct store_message *)(void *)rows.p;
    *count = rows.n / sizeof **messages;
    return finish(store, *count, contact_id, &find_contact);
}
