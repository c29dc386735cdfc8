#include "store/life/removal.h"

#include <string.h>

#include "store/contact.h"
#include "store/inbox/change.h"
#include "store/inbox/thread.h"
#include "store/outgoing/outgoing_row.h"

bool removal_list_identities(struct store *store, struct arena *arena, const char *contact_id,
                             const char ***identities, size_t *count) {
    static struct statement s = {
        .sql =
            "SELECT phone, bsuid, parent_bsuid FROM contact WHERE id = ?1 "
            "UNION ALL SELECT identity, NULL, NULL FROM contact_alias WHERE contact_id = ?1 "
            "UNION ALL SELECT phone, bsuid, parent_bsuid FROM contact_sign WHERE contact_id = ?1 "
            "UNION ALL SELECT phone, bsuid, parent_bsuid FROM contact_merge WHERE contact_id = ?1"};
    struct buffer list = buffer_in(arena);
    sql_start(store, &s, TEXT(contact_id));
    while (sql_row(store, &s))
        for (int column = 0; column < 3; column++) {
            const char *identity = column_text(&s, column, arena);
            if (identity && *identity)
                buffer_add(&list, &identity, sizeof identity);
        }
    *identities = buffer_array(&list, sizeof **identities, count);
    return !sql_failed(store);
}

bool removal_delete_message(struct store *store, const char *account_id, const char *thread_id,
                            const char *id, const char *wamid) {
#define STILL_THERE "(SELECT m.id FROM message m WHERE m.id = ?1 AND m.thread_id = ?2)"
    static struct statement parts[] = {
        {.sql = "DELETE FROM message_status WHERE message_id = " STILL_THERE},
        {.sql = "DELETE FROM flow_response WHERE message_id = " STILL_THERE},
        {.sql = "UPDATE media_copy SET state = 'removed', next_attempt_at = 0 "
                "WHERE message_id = " STILL_THERE},
        {.sql = "DELETE FROM message WHERE id = ?1 AND thread_id = ?2"},
    };
    static struct statement token = {
        .sql = "DELETE FROM flow_token WHERE account_id = ?1 AND token = ?2"};
    if (!outgoing_keep_delivery(store, id, thread_id))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!sql_run_later(store, &parts[i], TEXT(id), TEXT(thread_id)))
            return false;
    return sql_run_later(store, &token, TEXT(account_id), TEXT(wamid));
}

/* Reports what is gone: before INT64_MAX: the whole thread. */
static bool report(struct store *store, const char *user_id, const char *id, int64_t before,
                   int64_t change, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO thread_removal (thread_id, user_id, before_at, changed, removed_at) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (thread_id) DO UPDATE SET "
               "before_at = excluded.before_at, changed = excluded.changed, "
               "removed_at = excluded.removed_at"};
    return sql_run_later(store, &s, TEXT(id), TEXT(user_id),
                         before == INT64_MAX ? NO_INTEGER : INTEGER(before), INTEGER(change),
                         INTEGER(now));
}

/* At most as many messages are unread as are left that count. */
static bool lower_unread(struct store *store, const char *id, int64_t unread) {
    static struct statement count = {
        .sql = "SELECT count(*) FROM (SELECT 1 FROM message WHERE thread_id = ?1 "
               "AND direction = 'in' AND source = 'webhook' "
               "AND " COUNTS_TYPE("") " LIMIT ?2) AS kept"};
    static struct statement write = {.sql = "UPDATE thread SET unread = ?2 WHERE id = ?1"};
    if (!unread)
        return true;
    sql_start(store, &count, TEXT(id), INTEGER(unread));
    const int64_t left = row_integer(store, &count, unread);
    return left == unread || sql_run_later(store, &write, TEXT(id), INTEGER(left));
}

bool removal_change_thread(struct store *store, const char *user_id, const char *id, int64_t before,
                           int64_t now) {
    struct thread_found thread;
    int64_t change;
    if (!change_next(store, user_id, &change) ||
        !thread_find(store, WHOLE_VIEW(user_id), id, &thread))
        return !sql_failed(store);
    return lower_unread(store, thread.id, thread.unread) &&
           thread_change(store, thread.id, change) && thread_recount(store, thread.id) &&
           report(store, user_id, id, before, change, now);
}

bool removal_delete_thread(struct store *store, const char *user_id, const char *id, int64_t now) {
    static struct statement alias = {.sql = "DELETE FROM thread_alias WHERE thread_id = ?1"};
    static struct statement claim = {.sql = "DELETE FROM thread_claim WHERE thread_id = ?1"};
    static struct statement notes = {.sql = "DELETE FROM note WHERE thread_id = ?1"};
    static struct statement thread = {.sql = "DELETE FROM thread WHERE id = ?1"};
    int64_t change;
    return change_next(store, user_id, &change) && sql_run_later(store, &alias, TEXT(id)) &&
           sql_run_later(store, &claim, TEXT(id)) && sql_run_later(store, &notes, TEXT(id)) &&
           sql_run_later(store, &thread, TEXT(id)) &&
           report(store, user_id, id, INT64_MAX, change, now);
}

/* --- contacts --- */

/* A row of identity_change. */
struct identity_change {
    int64_t at;
    const char *names[4]; /* old_phone, old_bsuid, new_phone, new_bsuid; "": none */
};

/* Adds the changes from the identity to another one, and to it. */
static bool add_changes(struct store *store, struct arena *arena, const char *account_id,
                        const char *identity, struct buffer *list) {
    /* refused_at: PostgreSQL prefers an index that has all columns, that of the primary key */
#define BY(column)                                                                                 \
    "SELECT old_phone, old_bsuid, new_phone, new_bsuid, at, refused_at FROM identity_change "      \
    "WHERE account_id = ?1 AND " SQL_IS(column, "?2")
#define OR " UNION ALL "
    static struct statement s = {.sql = BY("old_phone") OR BY("old_bsuid") OR BY("new_phone")
                                     OR BY("new_bsuid")};
    sql_start(store, &s, TEXT(account_id), TEXT(identity));
    while (sql_row(store, &s)) {
        struct identity_change change = {.at = column_integer(&s, 4)};
        for (int name = 0; name < 4; name++)
            change.names[name] = column_text(&s, name, arena);
        buffer_add(list, &change, sizeof change);
    }
    return !sql_failed(store);
}

bool removal_add_linked(struct store *store, const char *account_id, const char *const *identities,
                        size_t count, struct buffer *names) {
    struct buffer list = buffer_in(names->arena);
    for (size_t i = 0; i < count; i++) {
        buffer_add(names, &identities[i], sizeof identities[i]);
        if (!add_changes(store, names->arena, account_id, identities[i], &list))
            return false;
    }
    const struct identity_change *changes = (const void *)list.p;
    for (size_t i = 0; i < list.n / sizeof *changes; i++)
        for (int name = 0; name < 4; name++)
            if (*changes[i].names[name])
                buffer_add(names, &changes[i].names[name], sizeof changes[i].names[name]);
    return true;
}

/* Whether another contact has the identity, or was shown with it. */
static bool is_of_another(struct store *store, const char *account_id, const char *contact_id,
                          const char *identity) {
#define SIGNS "SELECT contact_id FROM contact_sign WHERE account_id = ?1 AND "
    static struct statement s = {
        .sql = "SELECT 1 FROM (" CONTACT_IDS_OF(
            "?1", "?2") " UNION ALL " SIGNS "phone = ?2 UNION ALL " SIGNS
                        "bsuid = ?2) AS other WHERE other.id <> ?3 LIMIT 1"};
    sql_start(store, &s, TEXT(account_id), TEXT(identity), TEXT(contact_id));
    return row_exists(store, &s);
}

static bool is_among(const char *name, const char *const *identities, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(identities[i], name) == 0)
            return true;
    return false;
}

/* The contact that goes. */
struct leaving {
    const char *account_id, *id, *const *identities;
    size_t count;
};

/* A number may have been that of another person before, whose change is still needed to attribute
 * what comes late. */
static bool is_needed(struct store *store, const struct leaving *contact,
                      const struct identity_change *change) {
    for (int i = 0; i < 4; i++)
        if (*change->names[i] && !is_among(change->names[i], contact->identities, contact->count) &&
            is_of_another(store, contact->account_id, contact->id, change->names[i]))
            return true;
    return false;
}

/* Deletes the changes of identity that are of this contact alone, or of no other contact. */
static bool delete_changes(struct store *store, struct arena *arena,
                           const struct leaving *contact) {
    static struct statement s = {
        .sql = "DELETE FROM identity_change WHERE account_id = ?1 AND old_phone = ?2 "
               "AND old_bsuid = ?3 AND new_phone = ?4 AND new_bsuid = ?5 AND at = ?6"};
    struct buffer list = buffer_in(arena);
    for (size_t i = 0; i < contact->count; i++)
        if (!add_changes(store, arena, contact->account_id, contact->identities[i], &list))
            return false;
    const struct identity_change *changes = (const void *)list.p;
    for (size_t i = 0; i < list.n / sizeof *changes; i++) {
        const char *const *names = changes[i].names;
        if (!is_needed(store, contact, &changes[i]) &&
            !sql_run_later(store, &s, TEXT(contact->account_id), TEXT(names[0]), TEXT(names[1]),
                           TEXT(names[2]), TEXT(names[3]), INTEGER(changes[i].at)))
            return false;
    }
    return !sql_failed(store);
}

bool removal_clear_contact(struct store *store, struct arena *arena, const char *account_id,
                           const char *id, const char *const *identities, size_t count) {
    static struct statement steps[] = {
        {.sql = "DELETE FROM contact_term WHERE contact_id = ?1"},
        {.sql = "DELETE FROM contact_alias WHERE contact_id = ?1"},
        {.sql = "DELETE FROM contact_sign WHERE contact_id = ?1"},
        {.sql = "DELETE FROM contact_merge WHERE contact_id = ?1"},
        {.sql = "DELETE FROM contact_block WHERE contact_id = ?1"},
        {.sql = "DELETE FROM lead WHERE contact_id = ?1"},
        {.sql = "UPDATE contact SET phone = NULL, bsuid = NULL, parent_bsuid = NULL, "
                "username = NULL, name = NULL WHERE id = ?1"},
    };
    const struct leaving contact = {account_id, id, identities, count};
    if (!delete_changes(store, arena, &contact))
        return false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!sql_run_later(store, &steps[i], TEXT(id)))
            return false;
    return true;
}

bool removal_delete_contact(struct store *store, struct arena *arena, const char *account_id,
                            const char *id, const char *const *identities, size_t count) {
    static struct statement s = {.sql = "DELETE FROM contact AS gone WHERE gone.id = ?1"};
    return removal_clear_contact(store, arena, account_id, id, identities, count) &&
           sql_run_later(store, &s, TEXT(id));
}
