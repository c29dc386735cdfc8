#include "store/inbox/contact_find.h"

#include "engine/row.h"
#include "store/block.h"

static struct statement find[CONTACTS_SOUGHT_AT_ONCE];

void contact_start_find(struct store *store, size_t slot, const char *account_id,
                        const char *identity) {
    static const struct statement s = {.sql = CONTACT_ID_OF("?1", "?2")};
    if (!find[slot].sql)
        find[slot] = s;
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

enum store_result store_is_blocked(struct store *store, const char *line_id, const char *account_id,
                                   const char *phone, const char *bsuid, bool *blocked) {
    static struct statement s = {.sql = "SELECT 1 FROM contact_block WHERE line_id = ?1 "
                                        "AND contact_id = (" CONTACT_ID_OF("?2", "?3") ")"};
    const char *identities[] = {phone, bsuid};
    *blocked = false;
    for (size_t i = 0; i < 2 && !*blocked; i++) {
        if (!identities[i])
            continue;
        sql_start(store, &s, TEXT(line_id), TEXT(account_id), TEXT(identities[i]));
        *blocked = row_exists(store, &s);
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
    *blocked = row_exists(store, &s);
    return sql_result(store);
}

enum store_result store_find_person(struct store *store, const char *account_id, const char *phone,
                                    const char *bsuid, char contact_id[ID_SIZE]) {
    bool found = (phone && contact_find(store, account_id, phone, contact_id)) ||
                 (bsuid && contact_find(store, account_id, bsuid, contact_id));
    return sql_found(store, found);
}
