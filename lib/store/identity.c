#include "store/identity.h"

#include "store/contact.h"

static const char number_change[] = "number_change";

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

static bool is_same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static const char *first_of(const char *a, const char *b) {
    return a ? a : b;
}

static bool goes_by(const struct contact *contact, const char *name) {
    return is_same(contact->phone, name) || is_same(contact->bsuid, name) ||
           is_same(contact->parent_bsuid, name);
}

/* --- one person, put together from the contacts that turn out to be it --- */

enum { MOST_NAMES = 24 };

struct person {
    struct store *store;
    struct arena *arena;
    const char *account_id;
    int64_t now;
    const char *reason;            /* why contacts become one */
    struct contact contact;        /* the one that remains so far; id NULL: nobody yet */
    const char *names[MOST_NAMES]; /* phones and BSUIDs that shall lead to it */
    size_t name_count;
};

/* Whom an identity led to. */
struct found {
    struct contact contact; /* id NULL: to nobody */
    bool is_former;         /* by an alias: it does not go by that any more, or not mainly */
};

static bool find(struct person *p, const char *identity, struct found *found) {
    char id[ID_SIZE];
    *found = (struct found){0};
    if (!identity || !contact_find(p->store, p->account_id, identity, id))
        return !sql_failed(p->store);
    if (!contact_read(p->store, p->arena, id, &found->contact))
        return false;
    found->is_former = !goes_by(&found->contact, identity);
    return true;
}

static void note_name(struct person *p, const char *name) {
    if (name && p->name_count < MOST_NAMES)
        p->names[p->name_count++] = name;
}

/* Writes down what was done to the contact, with what it was known by before. */
static bool note_merge(struct person *p, const struct contact *before, const char *merged_id,
                       const char *contact_id, const char *reason) {
    static struct statement s = {
        .sql = "INSERT INTO contact_merge (id, account_id, contact_id, merged_id, reason, phone, "
               "bsuid, parent_bsuid, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"};
    char id[ID_SIZE];
    id_make(id, "mrg_", p->now);
    return sql_run(p->store, &s, TEXT(id), TEXT(p->account_id), TEXT(contact_id), TEXT(merged_id),
                   TEXT(reason), TEXT(before->phone), TEXT(before->bsuid),
                   TEXT(before->parent_bsuid), INTEGER(p->now));
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

/* Makes the contact part of the person; of two the older one's id remains. */
static bool include(struct person *p, const struct contact *other) {
    struct contact *own = &p->contact;
    if (!other->id || is_same(own->id, other->id))
        return true;
    note_name(p, other->phone);
    note_name(p, other->bsuid);
    note_name(p, other->parent_bsuid);
    if (!own->id) {
        *own = *other;
        return true;
    }
    struct contact kept = is_older(own, other) ? *own : *other;
    struct contact gone = is_older(own, other) ? *other : *own;
    if (!move_all(p->store, gone.id, kept.id) || !note_merge(p, &gone, gone.id, kept.id, p->reason))
        return false;
    kept.username = first_of(kept.username, gone.username);
    kept.name = first_of(kept.name, gone.name);
    *own = kept;
    return true;
}

/* Takes the phone from somebody who goes on without it: it is another person's now. */
static bool take_phone(struct person *p, struct contact *from, const char *phone) {
    static struct statement forget = {
        .sql = "DELETE FROM contact_alias WHERE account_id = ?1 AND identity = ?2"};
    static struct statement take = {
        .sql = "UPDATE contact SET phone = NULL, updated_at = ?2 WHERE id = ?1"};
    if (!sql_run(p->store, &forget, TEXT(p->account_id), TEXT(phone)))
        return false;
    return !is_same(from->phone, phone) || /* it led there by an alias only */
           (note_merge(p, from, NULL, from->id, "recycled_phone") &&
            sql_run(p->store, &take, TEXT(from->id), INTEGER(p->now)));
}

static bool insert_contact(struct person *p, const char *new_id, const struct store_identity *who) {
    static struct statement s = {
        .sql = "INSERT INTO contact (id, account_id, phone, bsuid, parent_bsuid, username, name, "
               "created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)"};
    return sql_run(p->store, &s, TEXT(new_id), TEXT(p->account_id), TEXT(who->phone),
                   TEXT(who->bsuid), TEXT(who->parent_bsuid), TEXT(who->username), TEXT(who->name),
                   INTEGER(p->now)) &&
           contact_read(p->store, p->arena, new_id, &p->contact);
}

static bool is_unchanged(const char *a, const char *b) {
    return a == b || is_same(a, b);
}

/* Makes `who` what the contact goes by; parts that are NULL stay as they are. */
static bool write_contact(struct person *p, const struct store_identity *who) {
    static struct statement s = {
        .sql = "UPDATE contact SET phone = ?2, bsuid = ?3, parent_bsuid = ?4, username = ?5, "
               "name = ?6, updated_at = ?7 WHERE id = ?1"};
    struct contact was = p->contact, *c = &p->contact;
    c->phone = who->phone;
    c->bsuid = who->bsuid;
    c->parent_bsuid = first_of(who->parent_bsuid, c->parent_bsuid);
    c->username = first_of(who->username, c->username);
    c->name = first_of(who->name, c->name);
    if (is_unchanged(was.phone, c->phone) && is_unchanged(was.bsuid, c->bsuid) &&
        is_unchanged(was.parent_bsuid, c->parent_bsuid) &&
        is_unchanged(was.username, c->username) && is_unchanged(was.name, c->name))
        return true;
    return sql_run(p->store, &s, TEXT(c->id), TEXT(c->phone), TEXT(c->bsuid), TEXT(c->parent_bsuid),
                   TEXT(c->username), TEXT(c->name), INTEGER(p->now));
}

/* Has every name that the contact does not go by, and nobody else has, lead to it. */
static bool add_aliases(struct person *p, bool *is_news) {
    for (size_t i = 0; i < p->name_count; i++) {
        struct found owner;
        if (goes_by(&p->contact, p->names[i]))
            continue;
        if (!find(p, p->names[i], &owner))
            return false;
        if (owner.contact.id)
            continue;
        *is_news = true;
        if (!contact_add_alias(p->store, p->account_id, p->names[i], p->contact.id, p->now))
            return false;
    }
    return true;
}

/* The person goes by `who` from now on. `*is_news`: it did not before. */
static bool settle(struct person *p, const struct store_identity *who, bool *is_news) {
    struct contact was = p->contact;
    struct found owner = {0};
    if (!is_unchanged(was.phone, who->phone) && !find(p, who->phone, &owner))
        return false;
    if (owner.contact.id && !is_same(owner.contact.id, p->contact.id) &&
        !take_phone(p, &owner.contact, who->phone))
        return false;
    *is_news = !is_unchanged(was.phone, who->phone) || !is_unchanged(was.bsuid, who->bsuid);
    return write_contact(p, who) && add_aliases(p, is_news);
}

/* --- whether a phone's contact is the person that the platform means --- */

/* Whether the contact left this phone for another one. */
static bool has_left(struct person *p, const struct contact *contact, const char *phone,
                     bool *left) {
    static struct statement s = {.sql = "SELECT 1 FROM contact_merge WHERE contact_id = ?1 "
                                        "AND phone = ?2 AND reason = ?3 LIMIT 1"};
    sql_start(p->store, &s, TEXT(contact->id), TEXT(phone), TEXT(number_change));
    if ((*left = sql_row(p->store, &s)))
        sql_stop(&s);
    return !sql_failed(p->store);
}

/* Whether its BSUID is of the number before: the change told none, and a new number has a new one.
 */
static bool has_old_bsuid(struct person *p, const struct contact *contact, bool *is_old) {
    static struct statement s = {
        .sql = "SELECT bsuid FROM contact_merge WHERE contact_id = ?1 AND merged_id IS NULL "
               "AND reason = ?2 ORDER BY created_at DESC, id DESC LIMIT 1"};
    sql_start(p->store, &s, TEXT(contact->id), TEXT(number_change));
    if ((*is_old = sql_row(p->store, &s))) {
        *is_old = is_same(column_text(&s, 0, p->arena), contact->bsuid);
        sql_stop(&s);
    }
    return !sql_failed(p->store);
}

/* Whether whoever the phone led to can be who has this BSUID: else the phone has been recycled. */
static bool may_be(struct person *p, const struct found *found, const struct store_identity *who,
                   bool *may) {
    const struct contact *c = &found->contact;
    *may = false;
    if (!c->id)
        return true;
    if (!who->bsuid || is_same(c->bsuid, who->bsuid) ||
        is_same(c->parent_bsuid, who->parent_bsuid)) {
        *may = true;
        return true;
    }
    if (c->bsuid && found->is_former)
        return true;
    if (c->bsuid)
        return has_old_bsuid(p, c, may);
    if (!found->is_former) {
        *may = true;
        return true;
    }
    if (!has_left(p, c, who->phone, may))
        return false;
    *may = !*may;
    return true;
}

/* All whom the names of one identity led to. */
struct match {
    struct found by_bsuid, by_parent, by_phone;
    bool is_phone_ours; /* whoever the phone led to is this person */
};

static bool match(struct person *p, const struct store_identity *who, struct match *m) {
    return find(p, who->bsuid, &m->by_bsuid) && find(p, who->parent_bsuid, &m->by_parent) &&
           find(p, who->phone, &m->by_phone) && may_be(p, &m->by_phone, who, &m->is_phone_ours);
}

/* The strongest one found; its id is NULL when there is none. */
static const struct found *best_of(const struct match *m) {
    static const struct found nobody;
    return m->by_bsuid.contact.id    ? &m->by_bsuid
           : m->by_parent.contact.id ? &m->by_parent
           : m->is_phone_ours        ? &m->by_phone
                                     : &nobody;
}

/* The phone and the BSUID that those found go by. */
static const char *phone_of(const struct match *m) {
    return first_of(first_of(m->by_bsuid.contact.phone, m->by_parent.contact.phone),
                    m->is_phone_ours ? m->by_phone.contact.phone : NULL);
}

static const char *bsuid_of(const struct match *m) {
    return first_of(first_of(m->by_bsuid.contact.bsuid, m->by_parent.contact.bsuid),
                    m->is_phone_ours ? m->by_phone.contact.bsuid : NULL);
}

static bool include_all(struct person *p, const struct match *m) {
    return include(p, &m->by_bsuid.contact) && include(p, &m->by_parent.contact) &&
           (!m->is_phone_ours || include(p, &m->by_phone.contact));
}

static void note_names(struct person *p, const struct store_identity *who) {
    note_name(p, who->phone);
    note_name(p, who->bsuid);
    note_name(p, who->parent_bsuid);
}

/* Makes a contact for a person that is nobody's so far. */
static bool make(struct person *p, const char *new_id, const struct store_identity *who,
                 struct match *m) {
    bool is_recycled = m->by_phone.contact.id && !m->is_phone_ours;
    return (!is_recycled || take_phone(p, &m->by_phone.contact, who->phone)) &&
           insert_contact(p, new_id, who);
}

/* --- what a payload says in passing --- */

/* Which phone the person goes by, after somebody wrote from who->phone. */
static const char *phone_after_message(const struct store_identity *who, const struct match *m,
                                       bool is_late) {
    bool is_known = m->is_phone_ours && !m->by_phone.is_former;
    bool is_alias = m->is_phone_ours && m->by_phone.is_former; /* another spelling, or left */
    bool is_others = m->by_phone.contact.id && !m->is_phone_ours;
    if (!who->phone || (is_late && is_others))
        return phone_of(m);
    if (is_alias || (is_late && !is_known))
        return first_of(phone_of(m), who->phone);
    return is_late ? first_of(m->by_bsuid.contact.phone, who->phone) : who->phone;
}

/* A BSUID that the contact had before tells nothing new: the message was only late. */
static struct store_identity after_message(const struct store_identity *who,
                                           const struct match *m) {
    const struct contact *known = &m->by_bsuid.contact;
    bool is_late = known->id && m->by_bsuid.is_former;
    struct store_identity after = *who;
    after.phone = phone_after_message(who, m, is_late);
    after.bsuid = is_late ? first_of(known->bsuid, who->bsuid) : first_of(who->bsuid, bsuid_of(m));
    if (!is_late)
        return after;
    after.parent_bsuid = first_of(known->parent_bsuid, who->parent_bsuid);
    after.username = first_of(known->username, who->username);
    after.name = first_of(known->name, who->name);
    return after;
}

bool identity_resolve(struct store *store, struct arena *arena, const char *account_id,
                      const struct store_identity *who, const char *new_id, int64_t now,
                      struct contact *contact) {
    struct person p = {.store = store,
                       .arena = arena,
                       .account_id = account_id,
                       .now = now,
                       .reason = "same_payload"};
    struct match m;
    bool is_news;
    *contact = (struct contact){0};
    if (!who->phone && !who->bsuid && !who->parent_bsuid)
        return true;
    if (!match(&p, who, &m) || !include_all(&p, &m))
        return false;
    struct contact was = p.contact;
    if (!was.id && !new_id)
        return true;
    if (!was.id && !make(&p, new_id, who, &m))
        return false;
    struct store_identity after = after_message(who, &m);
    note_names(&p, who);
    if (!settle(&p, &after, &is_news))
        return false;
    *contact = p.contact;
    bool is_renamed = was.bsuid && !is_same(was.bsuid, contact->bsuid);
    return !is_renamed || note_merge(&p, &was, NULL, contact->id, p.reason);
}

/* --- what the platform says of a change --- */

/* Whether `to` was what the person went by once, before what it goes by now: the changes were told
 * in another order than they happened. Not when it goes by `from` now: then it is back. */
static bool is_past(const struct match *from, const struct match *to) {
    const struct found *was = best_of(from), *is = best_of(to);
    bool is_back = is_same(was->contact.id, is->contact.id) && !was->is_former;
    return is->contact.id && is->is_former && !is_back;
}

static struct store_identity after_change(const struct store_identity *after,
                                          const struct match *from, const struct match *to) {
    struct store_identity who = *after;
    if (is_past(from, to)) {
        const struct contact *is = &best_of(to)->contact;
        who.phone = is->phone;
        who.bsuid = is->bsuid;
        who.parent_bsuid = is->parent_bsuid;
    }
    who.phone = first_of(who.phone, first_of(phone_of(to), phone_of(from)));
    who.bsuid = first_of(who.bsuid, first_of(bsuid_of(to), bsuid_of(from)));
    return who;
}

/* A number change that names no BSUID may lead to a number that was somebody else's before: to one
 * who was known, by another BSUID, when the change happened. */
static void look_for_recycling(const struct store_identity *after, const struct match *from,
                               struct match *to, int64_t at) {
    const struct contact *was = &best_of(from)->contact, *is = &to->by_phone.contact;
    if (!after->bsuid && !after->parent_bsuid && was->bsuid && is->bsuid &&
        !is_same(was->id, is->id) && is->created_at < at)
        to->is_phone_ours = false;
}

/* What the person went by, as far as we know, else as the platform says. */
static struct contact known_before(const struct store_identity *before, const struct match *from) {
    const struct contact *was = &best_of(from)->contact;
    return (struct contact){.phone = first_of(phone_of(from), before->phone),
                            .bsuid = first_of(bsuid_of(from), before->bsuid),
                            .parent_bsuid = first_of(was->parent_bsuid, before->parent_bsuid)};
}

bool identity_change(struct store *store, struct arena *arena, const char *account_id,
                     const struct identity_change *change, const char *new_id, int64_t now) {
    struct person p = {.store = store,
                       .arena = arena,
                       .account_id = account_id,
                       .now = now,
                       .reason = change->reason};
    struct match from, to;
    bool is_news;
    if (!match(&p, change->before, &from) || !match(&p, change->after, &to))
        return false;
    look_for_recycling(change->after, &from, &to, change->at);
    struct store_identity who = after_change(change->after, &from, &to);
    struct contact was = known_before(change->before, &from);
    if (!who.phone && !who.bsuid && !who.parent_bsuid)
        return true;
    if (!include_all(&p, &from) || !include_all(&p, &to) ||
        (!p.contact.id && !make(&p, new_id, &who, &to)))
        return false;
    note_names(&p, change->before);
    note_names(&p, change->after);
    return settle(&p, &who, &is_news) &&
           (!is_news || note_merge(&p, &was, NULL, p.contact.id, p.reason));
}
