#include "store/identity.h"

#include "store/contact.h"

bool contact_read(struct store *store, struct arena *arena, const char *id,
                  struct contact *contact) {
    static struct statement s = {
        .sql = "SELECT id, phone, bsuid, parent_bsuid, username, name, created_at "
               "FROM contact WHERE id = ?1"};
    *contact = (struct contact){0};
    sql_start(store, &s, TEXT(id));
    if (!sql_row(store, &s))
        return !sql_failed(store);
    *contact = (struct contact){
        .id = column_text(&s, 0, arena),
        .phone = column_text(&s, 1, arena),
        .bsuid = column_text(&s, 2, arena),
        .parent_bsuid = column_text(&s, 3, arena),
        .username = column_text(&s, 4, arena),
        .name = column_text(&s, 5, arena),
        .created_at = column_integer(&s, 6),
    };
    sql_stop(&s);
    return true;
}

/* The contact that goes by the phone or BSUID; id NULL when there is none or it is NULL. */
static bool find(struct store *store, struct arena *arena, const char *account_id,
                 const char *identity, struct contact *contact) {
    char id[ID_SIZE];
    *contact = (struct contact){0};
    if (!identity || !contact_find(store, account_id, identity, id))
        return !sql_failed(store);
    return contact_read(store, arena, id, contact);
}

/* A parent BSUID is shared by the BSUIDs that one person has with several businesses of one owner:
 * it finds a contact only where nothing else does. */
static bool find_by_parent(struct store *store, struct arena *arena, const char *account_id,
                           const char *parent_bsuid, struct contact *contact) {
    static struct statement s = {.sql = "SELECT id FROM contact WHERE account_id = ?1 "
                                        "AND parent_bsuid = ?2 ORDER BY created_at, id LIMIT 1"};
    *contact = (struct contact){0};
    if (!parent_bsuid)
        return true;
    sql_start(store, &s, TEXT(account_id), TEXT(parent_bsuid));
    if (!sql_row(store, &s))
        return !sql_failed(store);
    const char *id = column_text(&s, 0, arena);
    sql_stop(&s);
    return contact_read(store, arena, id, contact);
}

static bool is_same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static const char *first_of(const char *a, const char *b) {
    return a ? a : b;
}

/* Writes down what was done to `contact`, as it was before. */
static bool note_merge(struct store *store, const char *account_id, const char *contact_id,
                       const struct contact *before, bool is_gone, const char *reason,
                       int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO contact_merge (id, account_id, contact_id, merged_id, reason, phone, "
               "bsuid, parent_bsuid, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"};
    char id[ID_SIZE];
    id_make(id, "mrg_", now);
    return sql_run(store, &s, TEXT(id), TEXT(account_id), TEXT(contact_id),
                   TEXT(is_gone ? before->id : NULL), TEXT(reason), TEXT(before->phone),
                   TEXT(before->bsuid), TEXT(before->parent_bsuid), INTEGER(now));
}

static bool write_contact(struct store *store, const struct contact *contact, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE contact SET phone = ?2, bsuid = ?3, parent_bsuid = ?4, username = ?5, "
               "name = ?6, updated_at = ?7 WHERE id = ?1"};
    return sql_run(store, &s, TEXT(contact->id), TEXT(contact->phone), TEXT(contact->bsuid),
                   TEXT(contact->parent_bsuid), TEXT(contact->username), TEXT(contact->name),
                   INTEGER(now));
}

static bool insert_contact(struct store *store, const char *account_id, const char *new_id,
                           const struct store_identity *who, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO contact (id, account_id, phone, bsuid, parent_bsuid, username, name, "
               "created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)"};
    return sql_run(store, &s, TEXT(new_id), TEXT(account_id), TEXT(who->phone), TEXT(who->bsuid),
                   TEXT(who->parent_bsuid), TEXT(who->username), TEXT(who->name), INTEGER(now));
}

/* Moves all that `from` has to `to` and removes `from`. Threads of one line become one. */
static bool move_all(struct store *store, const char *from, const char *to) {
    static struct statement steps[] = {
        {.sql = "UPDATE message SET thread_id = (SELECT t.id FROM thread t "
                "  WHERE t.contact_id = ?2 AND t.line_id = message.line_id) "
                "WHERE thread_id IN (SELECT f.id FROM thread f JOIN thread t "
                "  ON t.line_id = f.line_id AND t.contact_id = ?2 WHERE f.contact_id = ?1)"},
        {.sql = "UPDATE thread SET last_message_at = (SELECT max(u.last_message_at) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)) "
                "WHERE contact_id = ?2"},
        {.sql = "DELETE FROM thread WHERE contact_id = ?1 AND line_id IN "
                "(SELECT t.line_id FROM thread t WHERE t.contact_id = ?2)"},
        {.sql = "UPDATE thread SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "INSERT INTO contact_block (line_id, contact_id, created_at) "
                "SELECT line_id, ?2, created_at FROM contact_block WHERE contact_id = ?1 "
                "ON CONFLICT (line_id, contact_id) DO NOTHING"},
        {.sql = "INSERT INTO lead (contact_id, source, created_at) "
                "SELECT ?2, source, created_at FROM lead WHERE contact_id = ?1 "
                "ON CONFLICT (contact_id, source) DO NOTHING"},
        {.sql = "UPDATE contact_alias SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "UPDATE contact_merge SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "UPDATE event SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "DELETE FROM contact_block WHERE contact_id = ?1 AND ?2 <> ''"},
        {.sql = "DELETE FROM lead WHERE contact_id = ?1 AND ?2 <> ''"},
        {.sql = "DELETE FROM contact WHERE id = ?1 AND ?2 <> ''"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!sql_run(store, &steps[i], TEXT(from), TEXT(to)))
            return false;
    return true;
}

static bool is_older(const struct contact *a, const struct contact *b) {
    return a->created_at != b->created_at ? a->created_at < b->created_at
                                          : strcmp(a->id, b->id) < 0;
}

/* Makes one contact of two; the older one's id survives. `*a` becomes the survivor, with what it
 * did not know taken from the other. */
static bool merge(struct store *store, const char *account_id, struct contact *a,
                  const struct contact *b, const char *reason, int64_t now) {
    struct contact survivor = is_older(a, b) ? *a : *b, other = is_older(a, b) ? *b : *a;
    if (!move_all(store, other.id, survivor.id) ||
        !note_merge(store, account_id, survivor.id, &other, true, reason, now))
        return false;
    if (other.bsuid && survivor.bsuid &&
        !contact_add_alias(store, account_id, other.bsuid, survivor.id, now))
        return false;
    survivor.phone = first_of(survivor.phone, other.phone);
    survivor.bsuid = first_of(survivor.bsuid, other.bsuid);
    survivor.parent_bsuid = first_of(survivor.parent_bsuid, other.parent_bsuid);
    survivor.username = first_of(survivor.username, other.username);
    survivor.name = first_of(survivor.name, other.name);
    *a = survivor;
    return true;
}

/* Takes the phone from a contact that keeps its BSUID and its history: somebody else has it now. */
static bool take_phone(struct store *store, const char *account_id, struct contact *from,
                       const char *phone, int64_t now) {
    static struct statement forget = {
        .sql = "DELETE FROM contact_alias WHERE account_id = ?1 AND identity = ?2"};
    if (!sql_run(store, &forget, TEXT(account_id), TEXT(phone)))
        return false;
    if (!is_same(from->phone, phone))
        return true; /* it led here by an alias only */
    if (!note_merge(store, account_id, from->id, from, false, "recycled_phone", now))
        return false;
    from->phone = NULL;
    return write_contact(store, from, now);
}

/* Tells the contact what `who` says about it. A BSUID it had before goes on leading to it. */
static bool learn(struct store *store, const char *account_id, struct contact *contact,
                  const struct store_identity *who, int64_t now) {
    const struct contact before = *contact;
    contact->phone = first_of(who->phone, contact->phone);
    contact->bsuid = first_of(who->bsuid, contact->bsuid);
    contact->parent_bsuid = first_of(who->parent_bsuid, contact->parent_bsuid);
    contact->username = first_of(who->username, contact->username);
    contact->name = first_of(who->name, contact->name);
    if (before.bsuid && !is_same(before.bsuid, contact->bsuid) &&
        !contact_add_alias(store, account_id, before.bsuid, contact->id, now))
        return false;
    return write_contact(store, contact, now);
}

/* Whether the two may be one person: no BSUID speaks against it. */
static bool may_be_same(const struct contact *contact, const char *bsuid) {
    return !contact->bsuid || !bsuid || is_same(contact->bsuid, bsuid);
}

bool identity_resolve(struct store *store, struct arena *arena, const char *account_id,
                      const struct store_identity *who, const char *new_id, int64_t now,
                      struct contact *contact) {
    struct contact by_phone;
    *contact = (struct contact){0};
    if (!who->phone && !who->bsuid && !who->parent_bsuid)
        return true;
    if (!find(store, arena, account_id, who->bsuid, contact) ||
        !find(store, arena, account_id, who->phone, &by_phone))
        return false;
    bool is_two = by_phone.id && !is_same(by_phone.id, contact->id);
    if (is_two && !may_be_same(&by_phone, who->bsuid)) {
        if (!take_phone(store, account_id, &by_phone, who->phone, now))
            return false;
    } else if (is_two && contact->id) {
        if (!merge(store, account_id, contact, &by_phone, "same_payload", now))
            return false;
    } else if (by_phone.id) {
        *contact = by_phone;
    }
    if (!contact->id && !find_by_parent(store, arena, account_id, who->parent_bsuid, contact))
        return false;
    if (contact->id)
        return learn(store, account_id, contact, who, now);
    return insert_contact(store, account_id, new_id, who, now) &&
           contact_read(store, arena, new_id, contact);
}

/* Whoever goes by the identity, the strongest name first. */
static bool find_any(struct store *store, struct arena *arena, const char *account_id,
                     const struct store_identity *who, struct contact *contact) {
    if (!find(store, arena, account_id, who->bsuid, contact) || contact->id)
        return !sql_failed(store);
    if (!find_by_parent(store, arena, account_id, who->parent_bsuid, contact) || contact->id)
        return !sql_failed(store);
    if (!find(store, arena, account_id, who->phone, contact))
        return false;
    if (contact->id && !may_be_same(contact, who->bsuid))
        *contact = (struct contact){0}; /* the phone is another person's by now */
    return true;
}

/* Merges into `contact` whoever else goes by `identity`; a phone of somebody with another BSUID than
 * `bsuid` moves instead. */
static bool absorb(struct store *store, struct arena *arena, const char *account_id,
                   struct contact *contact, const char *identity, const char *bsuid,
                   const char *reason, int64_t now) {
    struct contact other;
    if (!find(store, arena, account_id, identity, &other))
        return false;
    if (!other.id || is_same(other.id, contact->id))
        return true;
    if (!contact->id) {
        *contact = other;
        return true;
    }
    if (bsuid && !may_be_same(&other, bsuid))
        return take_phone(store, account_id, &other, identity, now);
    return merge(store, account_id, contact, &other, reason, now);
}

bool identity_change(struct store *store, struct arena *arena, const char *account_id,
                     const struct store_identity *before, const struct store_identity *after,
                     const char *reason, int64_t now, struct contact *contact) {
    if (!find_any(store, arena, account_id, before, contact))
        return false;
    struct contact was = *contact;
    if (!absorb(store, arena, account_id, contact, after->bsuid, NULL, reason, now) ||
        !absorb(store, arena, account_id, contact, after->phone, after->bsuid, reason, now))
        return false;
    if (!contact->id)
        return true;
    if (was.id && is_same(was.id, contact->id) &&
        !note_merge(store, account_id, was.id, &was, false, reason, now))
        return false;
    return learn(store, account_id, contact, after, now);
}
