#include "store/identity.h"

#include "store/person.h"

static const char number_change[] = "number_change";

/* --- whether a phone's contact is the person that the platform means --- */

/* When the contact left this phone for another one; 0: it did not. */
static bool find_leaving(struct person *p, const struct contact *contact, const char *phone,
                         int64_t *at) {
    static struct statement s = {.sql = "SELECT created_at FROM contact_merge "
                                        "WHERE contact_id = ?1 AND phone = ?2 AND reason = ?3 "
                                        "ORDER BY created_at DESC LIMIT 1"};
    *at = 0;
    sql_start(p->store, &s, TEXT(contact->id), TEXT(phone), TEXT(number_change));
    if (sql_row(p->store, &s)) {
        *at = column_integer(&s, 0);
        sql_stop(&s);
    }
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
    int64_t left_at;
    *may =
        c->id && (!who->bsuid || is_same(c->bsuid, who->bsuid) ||
                  is_same(c->parent_bsuid, who->parent_bsuid) || (!c->bsuid && !found->is_former));
    if (!c->id || *may)
        return true;
    if (c->bsuid)
        return found->is_former || has_old_bsuid(p, c, may);
    if (!find_leaving(p, c, who->phone, &left_at))
        return false;
    *may = !left_at;
    return true;
}

/* All whom the names of one identity led to. */
struct match {
    struct found by_bsuid, by_parent, by_phone;
    bool is_phone_ours; /* whoever the phone led to is this person */
};

static bool match(struct person *p, const struct store_identity *who, struct match *m) {
    return person_find(p, who->bsuid, &m->by_bsuid) &&
           person_find(p, who->parent_bsuid, &m->by_parent) &&
           person_find(p, who->phone, &m->by_phone) &&
           may_be(p, &m->by_phone, who, &m->is_phone_ours);
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
    return person_include(p, &m->by_bsuid.contact) && person_include(p, &m->by_parent.contact) &&
           (!m->is_phone_ours || person_include(p, &m->by_phone.contact));
}

/* Makes a contact for a person that is nobody's so far. */
static bool make(struct person *p, const char *new_id, const struct store_identity *who,
                 struct match *m) {
    bool is_recycled = m->by_phone.contact.id && !m->is_phone_ours;
    return (!is_recycled || person_take_phone(p, &m->by_phone.contact, who->phone)) &&
           person_make(p, new_id, who);
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
    person_add_names(&p, who);
    if (!person_settle(&p, &after, &is_news))
        return false;
    *contact = p.contact;
    bool is_renamed = was.bsuid && !is_same(was.bsuid, contact->bsuid);
    return !is_renamed || person_note_change(&p, &was);
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
 * who was known by another BSUID when the change happened, or who had left the number by then. */
static bool look_for_recycling(struct person *p, const struct identity_change *change,
                               const struct match *from, struct match *to) {
    const struct contact *was = &best_of(from)->contact, *is = &to->by_phone.contact;
    int64_t left_at = 0;
    if (change->after->bsuid || change->after->parent_bsuid || !is->id || is_same(was->id, is->id))
        return true;
    if (to->by_phone.is_former && !find_leaving(p, is, change->after->phone, &left_at))
        return false;
    if ((left_at && left_at < change->at) ||
        (was->bsuid && is->bsuid && is->created_at < change->at))
        to->is_phone_ours = false;
    return true;
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
    if (!match(&p, change->before, &from) || !match(&p, change->after, &to) ||
        !look_for_recycling(&p, change, &from, &to))
        return false;
    struct store_identity who = after_change(change->after, &from, &to);
    struct contact was = known_before(change->before, &from);
    if (!who.phone && !who.bsuid && !who.parent_bsuid)
        return true;
    if (!include_all(&p, &from) || !include_all(&p, &to) ||
        (!p.contact.id && !make(&p, new_id, &who, &to)))
        return false;
    person_add_names(&p, change->before);
    person_add_names(&p, change->after);
    return person_settle(&p, &who, &is_news) && (!is_news || person_note_change(&p, &was));
}
