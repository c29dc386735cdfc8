#include "store/person.h"

#include "store/change.h"
#include "store/contact_term.h"
#include "store/thread_tally.h"

static bool has_identity(const struct contact *contact, const char *identity) {
    return is_set_and_equal(contact->phone, identity) ||
           is_set_and_equal(contact->bsuid, identity) ||
           is_set_and_equal(contact->parent_bsuid, identity);
}

#define READ_IF_FOUND                                                                              \
    "SELECT " CONTACT_COLUMNS " FROM contact WHERE id = ?1 AND " CONTACT_HAS("?2", "?3")
static struct statement read_if_found[PERSON_FOUND_AT_ONCE] = {
    {.sql = READ_IF_FOUND}, {.sql = READ_IF_FOUND}, {.sql = READ_IF_FOUND},
    {.sql = READ_IF_FOUND}, {.sql = READ_IF_FOUND}, {.sql = READ_IF_FOUND}};

static void start_reading(struct person *p, size_t slot, const char *id, const char *identity) {
    sql_start(p->store, &read_if_found[slot], TEXT(id), TEXT(p->account_id), TEXT(identity));
}

/* Reads the contact with this id, which was found by the identity before it was locked; its id is
 * NULL when the identity does not lead to it any more. */
static bool read_found(struct person *p, size_t slot, const char *id, const char *identity,
                       struct found *found) {
    struct statement *s = &read_if_found[slot];
    if (!sql_reads_ahead(p->store))
        start_reading(p, slot, id, identity);
    if (!sql_row(p->store, s))
        return !sql_failed(p->store);
    found->contact = contact_of_row(s, p->arena);
    found->is_former = !has_identity(&found->contact, identity);
    sql_stop(s);
    return true;
}

/* Finds the contact that each identity leads to, and writes its id to `ids`; *known: NULL where
 * there is none. */
static bool find_all(struct person *p, const char *const *identities, size_t count,
                     char ids[][ID_SIZE], const char **known) {
    const bool reads_ahead = sql_reads_ahead(p->store);
    for (size_t i = 0; reads_ahead && i < count; i++)
        if (identities[i])
            contact_start_find(p->store, i, p->account_id, identities[i]);
    for (size_t i = 0; i < count; i++) {
        if (identities[i] &&
            (reads_ahead ? contact_read_found(p->store, i, ids[i])
                         : contact_find(p->store, p->account_id, identities[i], ids[i])))
            known[i] = ids[i];
        if (sql_failed(p->store))
            return false;
    }
    return true;
}

/* The same as person_find; *is_stable: no other transaction changed what an identity leads to
 * between the search and the lock. */
static bool try_to_find(struct person *p, const char *const *identities, size_t count,
                        struct found *found, bool *is_stable) {
    char ids[PERSON_FOUND_AT_ONCE][ID_SIZE];
    const char *locked[PERSON_FOUND_AT_ONCE] = {NULL};
    const bool reads_ahead = sql_reads_ahead(p->store);
    if (!find_all(p, identities, count, ids, locked))
        return false;
    sql_lock(p->store, LOCK_CONTACT, p->account_id, locked, count);
    for (size_t i = 0; reads_ahead && i < count; i++)
        if (locked[i])
            start_reading(p, i, ids[i], identities[i]);
    *is_stable = true;
    for (size_t i = 0; i < count; i++) {
        found[i] = (struct found){0};
        if (locked[i] && !read_found(p, reads_ahead ? i : 0, ids[i], identities[i], &found[i]))
            return false;
        *is_stable = *is_stable && !locked[i] == !found[i].contact.id;
    }
    return true;
}

bool person_find(struct person *p, const char *const *identities, size_t count,
                 struct found *found) {
    bool is_stable = false;
    while (!is_stable)
        if (!try_to_find(p, identities, count, found, &is_stable))
            return false;
    return true;
}

static void add_identity(struct person *p, const char *identity) {
    if (identity && p->identity_count < MOST_IDENTITIES)
        p->identities[p->identity_count++] = identity;
}

void person_add_identities(struct person *p, const struct store_identity *who) {
    add_identity(p, who->phone);
    add_identity(p, who->bsuid);
    add_identity(p, who->parent_bsuid);
}

/* Inserts a row into contact_merge, with the identities that the contact had before. */
static bool insert_merge(struct person *p, const struct contact *before, const char *merged_id,
                         const char *contact_id, const char *reason) {
    static struct statement s = {
        .sql = "INSERT INTO contact_merge (id, account_id, contact_id, merged_id, reason, phone, "
               "bsuid, parent_bsuid, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"};
    char id[ID_SIZE];
    id_make(id, "mrg_", p->now);
    return sql_run_later(p->store, &s, TEXT(id), TEXT(p->account_id), TEXT(contact_id),
                         TEXT(merged_id), TEXT(reason), TEXT(before->phone), TEXT(before->bsuid),
                         TEXT(before->parent_bsuid), INTEGER(p->now));
}

bool person_insert_change(struct person *p, const struct contact *before) {
    return insert_merge(p, before, NULL, p->contact.id, p->reason);
}

/* The threads of the contact `from` (?1) on lines where the contact `to` (?2) has a thread too. */
#define DOUBLE_THREADS                                                                             \
    "(SELECT f.id FROM thread f JOIN thread t ON t.line_id = f.line_id AND t.contact_id = ?2 "     \
    " WHERE f.contact_id = ?1)"

/* Takes a number of a change for the user of the account. */
static bool take_change(struct person *p, int64_t *change) {
    static struct statement s = {.sql = "SELECT user_id FROM account WHERE id = ?1"};
    char user_id[ID_SIZE];
    sql_start(p->store, &s, TEXT(p->account_id));
    return sql_read_id(p->store, &s, user_id) && change_next(p->store, user_id, change);
}

/* Moves the messages of double threads. All get one number of a change. */
static bool move_messages(struct person *p, const char *from, const char *to) {
    static struct statement s = {
        .sql = "UPDATE message SET changed = ?3, thread_id = (SELECT t.id FROM thread t "
               "  WHERE t.contact_id = ?2 AND t.line_id = message.line_id) "
               "WHERE thread_id IN " DOUBLE_THREADS};
    int64_t change;
    return take_change(p, &change) &&
           sql_run_later(p->store, &s, TEXT(from), TEXT(to), INTEGER(change));
}

/* Moves all rows of the contact `from` to the contact `to` and deletes `from`. Two threads of one
 * line are merged; the id of the one that is deleted becomes an alias of the other. */
static bool move_rows(struct store *store, const char *from, const char *to) {
    static struct statement steps[] = {
        {.sql = "UPDATE thread_alias SET thread_id = (SELECT t.id FROM thread f JOIN thread t "
                "  ON t.line_id = f.line_id AND t.contact_id = ?2 "
                "  WHERE f.id = thread_alias.thread_id) WHERE thread_id IN " DOUBLE_THREADS},
        {.sql = "INSERT INTO thread_alias (id, user_id, thread_id) "
                "SELECT f.id, f.user_id, t.id FROM thread f JOIN thread t "
                "ON t.line_id = f.line_id AND t.contact_id = ?2 WHERE f.contact_id = ?1"},
        {.sql = "UPDATE thread SET last_message_at = (SELECT max(u.last_message_at) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)), "
                "last_inbound_at = (SELECT max(u.last_inbound_at) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)), "
                "unread = (SELECT CAST(coalesce(sum(unread), 0) AS BIGINT) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)) "
                "WHERE contact_id = ?2"},
        {.sql = "DELETE FROM thread WHERE contact_id = ?1 AND line_id IN "
                "(SELECT t.line_id FROM thread t WHERE t.contact_id = ?2)"},
        {.sql = "UPDATE thread SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "INSERT INTO contact_block (user_id, line_id, contact_id, created_at) "
                "SELECT user_id, line_id, ?2, created_at FROM contact_block WHERE contact_id = ?1 "
                "ON CONFLICT (line_id, contact_id) DO NOTHING"},
        {.sql = "INSERT INTO lead (user_id, contact_id, source, created_at) "
                "SELECT user_id, ?2, source, created_at FROM lead WHERE contact_id = ?1 "
                "ON CONFLICT (contact_id, source) DO NOTHING"},
        {.sql = "UPDATE contact_alias SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "UPDATE contact_merge SET contact_id = ?2 WHERE contact_id = ?1"},
        /* finished ones keep the old id: a replay looks up the contact that remained */
        {.sql = "UPDATE delivery SET order_key = ?2 WHERE order_key = ?1 AND state = 'pending'"},
        {.sql = "DELETE FROM contact_block WHERE contact_id = ?1 AND ?2 <> ''"},
        {.sql = "DELETE FROM lead WHERE contact_id = ?1 AND ?2 <> ''"},
        {.sql = "DELETE FROM contact_term WHERE contact_id = ?1 AND ?2 <> ''"},
        {.sql = "DELETE FROM contact WHERE id = ?1 AND ?2 <> ''"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!sql_run_later(store, &steps[i], TEXT(from), TEXT(to)))
            return false;
    return true;
}

static bool is_older(const struct contact *a, const struct contact *b) {
    return a->created_at != b->created_at ? a->created_at < b->created_at
                                          : strcmp(a->id, b->id) < 0;
}

bool person_include(struct person *p, const struct contact *other) {
    struct contact *own = &p->contact;
    if (!other->id || is_set_and_equal(own->id, other->id))
        return true;
    add_identity(p, other->phone);
    add_identity(p, other->bsuid);
    add_identity(p, other->parent_bsuid);
    if (!own->id) {
        *own = *other;
        return true;
    }
    struct contact kept = is_older(own, other) ? *own : *other;
    struct contact gone = is_older(own, other) ? *other : *own;
    if (!thread_tally_write(p->store) || !move_messages(p, gone.id, kept.id) ||
        !move_rows(p->store, gone.id, kept.id) || !change_contact(p->store, p->arena, kept.id) ||
        !insert_merge(p, &gone, gone.id, kept.id, p->reason))
        return false;
    kept.username = first_of(kept.username, gone.username);
    kept.name = first_of(kept.name, gone.name);
    *own = kept;
    return true;
}

bool person_clear_phone(struct person *p, const struct contact *from, const char *phone) {
    static struct statement delete_alias = {
        .sql = "DELETE FROM contact_alias WHERE account_id = ?1 AND identity = ?2"};
    static struct statement clear = {
        .sql = "UPDATE contact SET phone = NULL, updated_at = ?2 WHERE id = ?1"};
    struct contact without = *from;
    without.phone = NULL;
    if (!sql_run_later(p->store, &delete_alias, TEXT(p->account_id), TEXT(phone)))
        return false;
    return !is_set_and_equal(from->phone, phone) || /* `from` was found by an alias only */
           (insert_merge(p, from, NULL, from->id, "recycled_phone") &&
            sql_run_later(p->store, &clear, TEXT(from->id), INTEGER(p->now)) &&
            contact_term_replace(p->store, p->account_id, &without) &&
            change_contact(p->store, p->arena, from->id));
}

bool person_insert(struct person *p, const char *new_id, const struct store_identity *who) {
    static struct statement s = {
        .sql = "INSERT INTO contact (id, account_id, phone, bsuid, parent_bsuid, username, name, "
               "created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)"};
    p->contact = (struct contact){.id = new_id,
                                  .phone = who->phone,
                                  .bsuid = who->bsuid,
                                  .parent_bsuid = who->parent_bsuid,
                                  .username = who->username,
                                  .name = who->name,
                                  .created_at = p->now};
    return sql_run_later(p->store, &s, TEXT(new_id), TEXT(p->account_id), TEXT(who->phone),
                         TEXT(who->bsuid), TEXT(who->parent_bsuid), TEXT(who->username),
                         TEXT(who->name), INTEGER(p->now)) &&
           contact_term_insert(p->store, p->account_id, &p->contact);
}

/* Sets the contact's phone and BSUID to those of `who`; the other columns only where `who` has a
 * value. */
static bool update_contact(struct person *p, const struct store_identity *who) {
    static struct statement s = {
        .sql = "UPDATE contact SET phone = ?2, bsuid = ?3, parent_bsuid = ?4, username = ?5, "
               "name = ?6, updated_at = ?7 WHERE id = ?1"};
    struct contact was = p->contact, *c = &p->contact;
    c->phone = who->phone;
    c->bsuid = who->bsuid;
    c->parent_bsuid = first_of(who->parent_bsuid, c->parent_bsuid);
    c->username = first_of(who->username, c->username);
    c->name = first_of(who->name, c->name);
    if (is_equal_or_both_null(was.phone, c->phone) && is_equal_or_both_null(was.bsuid, c->bsuid) &&
        is_equal_or_both_null(was.parent_bsuid, c->parent_bsuid) &&
        is_equal_or_both_null(was.username, c->username) &&
        is_equal_or_both_null(was.name, c->name))
        return true;
    return sql_run_later(p->store, &s, TEXT(c->id), TEXT(c->phone), TEXT(c->bsuid),
                         TEXT(c->parent_bsuid), TEXT(c->username), TEXT(c->name),
                         INTEGER(p->now)) &&
           contact_term_replace(p->store, p->account_id, c) &&
           change_contact(p->store, p->arena, c->id);
}

static bool is_in(const char *const *list, size_t count, const char *identity) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], identity) == 0)
            return true;
    return false;
}

/* Points each of `count` identities from `first` on that leads to no contact at this one. */
static bool add_some_aliases(struct person *p, size_t first, size_t count, bool *is_changed) {
    const char *sought[PERSON_FOUND_AT_ONCE] = {NULL}, *known[PERSON_FOUND_AT_ONCE] = {NULL};
    char ids[PERSON_FOUND_AT_ONCE][ID_SIZE];
    for (size_t i = 0; i < count; i++)
        if (!has_identity(&p->contact, p->identities[first + i]) &&
            !is_in(p->identities, first + i, p->identities[first + i]))
            sought[i] = p->identities[first + i];
    if (!find_all(p, sought, count, ids, known))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!sought[i] || known[i])
            continue;
        *is_changed = true;
        if (!contact_upsert_alias(p->store, p->account_id, sought[i], p->contact.id, p->now))
            return false;
    }
    return true;
}

/* The same for every identity. */
static bool add_aliases(struct person *p, bool *is_changed) {
    for (size_t first = 0; first < p->identity_count; first += PERSON_FOUND_AT_ONCE) {
        const size_t left = p->identity_count - first;
        if (!add_some_aliases(p, first, left < PERSON_FOUND_AT_ONCE ? left : PERSON_FOUND_AT_ONCE,
                              is_changed))
            return false;
    }
    return true;
}

bool person_update(struct person *p, const struct store_identity *who, bool *is_changed) {
    struct contact was = p->contact;
    struct found holder = {0};
    if (!is_equal_or_both_null(was.phone, who->phone) && !person_find(p, &who->phone, 1, &holder))
        return false;
    if (holder.contact.id && !is_set_and_equal(holder.contact.id, p->contact.id) &&
        !person_clear_phone(p, &holder.contact, who->phone))
        return false;
    *is_changed = !is_equal_or_both_null(was.phone, who->phone) ||
                  !is_equal_or_both_null(was.bsuid, who->bsuid);
    return update_contact(p, who) && add_aliases(p, is_changed);
}
