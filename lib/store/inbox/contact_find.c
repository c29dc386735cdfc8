#include "store/inbox/contact_find.h"

#include <stdio.h>

#include "store/block.h"

#define FIND                                                                                       \
    "SELECT id FROM contact WHERE account_id = ?1 AND phone = ?2 "                                 \
    "UNION ALL SELECT id FROM contact WHERE account_id = ?1 AND bsuid = ?2 "                       \
    "UNION ALL SELECT id FROM contact WHERE account_id = ?1 AND parent_bsuid = ?2 "                \
    "UNION ALL SELECT contact_id FROM contact_alias "                                              \
    "          WHERE account_id = ?1 AND identity = ?2 LIMIT 1"
static struct statement find[CONTACTS_SOUGHT_AT_ONCE] = {
    {.sql = FIND}, {.sql = FIND}, {.sql = FIND}, {.sql = FIND}, {.sql = FIND}, {.sql = FIND}};

void contact_start_find(struct store *store, size_t slot, const char *account_id,
                        const char *identity) {
    sql_start(store, &find[slot], TEXT(account_id), TEXT(identity));
}

bool contact_read_found(struct store *store, size_t slot, char id[ID_SIZE]) {
    return sql_read_id(store, &find[slot], id);
}

bool contact_find(struct store *store, const char *account_id, const char *identity,
                  char id[ID_SIZE]) {
    contact_start_find(store, 0, account_id, identity);
    return contact_read_found(store, 0, id);
}

void contact_lock(struct store *store, const char *account_id, const char *id) {
    sql_lock(store, LOCK_CONTACT, account_id, &id, 1);
}

bool contact_find_locked(struct store *store, const char *account_id, const char *identity,
                         char id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT id FROM contact WHERE id = ?1 "
                                        "AND " CONTACT_HAS("?2", "?3")};
    while (contact_find(store, account_id, identity, id)) {
        contact_lock(store, account_id, id);
        sql_start(store, &s, TEXT(id), TEXT(account_id), TEXT(identity));
        if (sql_read_id(store, &s, id) || sql_failed(store))
            return !sql_failed(store);
    }
    return false;
}

bool contact_upsert_alias(struct store *store, const char *account_id, const char *identity,
                          const char *contact_id, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO contact_alias (account_id, identity, contact_id, created_at) "
               "VALUES (?1, ?2, ?3, ?4) "
               "ON CONFLICT (account_id, identity) DO UPDATE SET contact_id = excluded.contact_id"};
    return sql_run_later(store, &s, TEXT(account_id), TEXT(identity), TEXT(contact_id),
                         INTEGER(now));
}

static struct statement find_thread = {
    .sql = "SELECT t.id FROM thread t WHERE t.line_id = ?1 AND t.contact_id = ?2"};

void thread_read_ahead(struct store *store, struct thread *thread) {
    thread->is_read_ahead = sql_reads_ahead(store) && !thread_tally_has(store, thread);
    if (thread->is_read_ahead)
        sql_start(store, &find_thread, TEXT(thread->line_id), TEXT(thread->contact_id));
}

#define UPSERT_THREAD                                                                              \
    "INSERT INTO thread (id, user_id, line_id, contact_id, created_at, last_message_at, "          \
    "changed, last_inbound_at, unread) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8) "               \
    "ON CONFLICT (line_id, contact_id) DO UPDATE "                                                 \
    "SET last_message_at = CASE WHEN excluded.last_message_at > thread.last_message_at "           \
    "THEN excluded.last_message_at ELSE thread.last_message_at END, "                              \
    "last_inbound_at = CASE WHEN thread.last_inbound_at IS NULL "                                  \
    "OR excluded.last_inbound_at > thread.last_inbound_at "                                        \
    "THEN excluded.last_inbound_at ELSE thread.last_inbound_at END, "                              \
    "unread = thread.unread + excluded.unread, changed = excluded.changed"

/* Upserts a thread and writes its id to `id`: in one statement, or in two if the thread was read
 * ahead or cannot change between them. */
static bool upsert_thread(struct store *store, const struct thread *thread,
                          const struct parameter *parameters, size_t count, char id[ID_SIZE]) {
    static struct statement upsert = {.sql = UPSERT_THREAD},
                            returning = {.sql = UPSERT_THREAD " RETURNING id"};
    if (!thread->is_read_ahead && !sql_is_only_writer(store)) {
        sql_start_with(store, &returning, parameters, count);
        return sql_read_id(store, &returning, id);
    }
    if (!thread->is_read_ahead)
        sql_start(store, &find_thread, TEXT(thread->line_id), TEXT(thread->contact_id));
    snprintf(id, ID_SIZE, "%s", thread->new_id);
    sql_read_id(store, &find_thread, id);
    return !sql_failed(store) && sql_run_later_with(store, &upsert, parameters, count);
}

bool thread_upsert(struct store *store, const struct thread *thread, char id[ID_SIZE]) {
    const struct parameter parameters[] = {TEXT(thread->new_id),
                                           TEXT(thread->user_id),
                                           TEXT(thread->line_id),
                                           TEXT(thread->contact_id),
                                           INTEGER(thread->at),
                                           INTEGER(thread->change),
                                           thread->is_inbound ? INTEGER(thread->at) : NO_INTEGER,
                                           INTEGER(thread->is_unread)};
    return thread_tally_add(store, thread, id) ||
           (upsert_thread(store, thread, parameters, sizeof parameters / sizeof *parameters, id) &&
            thread_tally_enter(store, id, thread->line_id, thread->contact_id));
}

enum store_result store_is_blocked(struct store *store, const char *line_id, const char *account_id,
                                   const char *phone, const char *bsuid, bool *blocked) {
    static struct statement s = {
        .sql = "SELECT 1 FROM contact_block WHERE line_id = ?1 AND contact_id = ?2"};
    const char *identities[] = {phone, bsuid};
    *blocked = false;
    for (size_t i = 0; i < 2 && !*blocked; i++) {
        char id[ID_SIZE];
        if (!identities[i] || !contact_find(store, account_id, identities[i], id))
            continue;
        sql_start(store, &s, TEXT(line_id), TEXT(id));
        if ((*blocked = sql_row(store, &s)))
            sql_stop(&s);
    }
    return sql_result(store);
}

enum store_result store_is_sender_blocked(struct store *store, const char *line_id,
                                          const char *wamid, bool *blocked) {
    static struct statement s = {
        .sql = "SELECT 1 FROM message m JOIN thread t ON t.id = m.thread_id "
               "JOIN contact_block b ON b.line_id = m.line_id AND b.contact_id = t.contact_id "
               "WHERE m.line_id = ?1 AND m.wamid = ?2"};
    *blocked = false;
    if (!wamid)
        return sql_result(store);
    sql_start(store, &s, TEXT(line_id), TEXT(wamid));
    if ((*blocked = sql_row(store, &s)))
        sql_stop(&s);
    return sql_result(store);
}

enum store_result store_find_person(struct store *store, const char *account_id, const char *phone,
                                    const char *bsuid, char contact_id[ID_SIZE]) {
    bool found = (phone && contact_find(store, account_id, phone, contact_id)) ||
                 (bsuid && contact_find(store, account_id, bsuid, contact_id));
    enum store_result result = sql_result(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}
