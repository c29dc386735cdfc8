#include "store/identity.h"

#include "store/person.h"

static const char number_change[] = "number_change";

/* --- whether a phone still belongs to the contact that it leads to --- */

/* Finds when the contact changed from this phone to another one; `*at` is 0 if it did not. */
static bool find_left_at(struct person *p, const struct contact *contact, const char *phone,
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

/* Whether the contact's BSUID belongs to its former number. A number change without a BSUID leaves
 * the old one in place, although a new number has a new BSUID. */
static bool has_old_bsuid(struct person *p, const struct contact *contact, bool *is_old) {
    static struct statement s = {
        .sql = "SELECT bsuid FROM contact_merge WHERE contact_id = ?1 AND merged_id IS NULL "
               "AND reason = ?2 ORDER BY created_at DESC, id DESC LIMIT 1"};
    sql_start(p->store, &s, TEXT(contact->id), TEXT(number_change));
    if ((*is_old = sql_row(p->store, &s))) {
        *is_old = is_set_and_equal(column_text(&s, 0, p->arena), contact->bsuid);
        sql_stop(&s);
    }
    return !sql_failed(p->store);
}

/* Whether the contact that the phone leads to can be the person with this BSUID. If not, the phone
 * has been recycled. */
static bool check_phone(struct person *p, const struct found *found,
                        const struct store_identity *who, bool *is_of_person) {
    const struct contact *c = &found->contact;
    int64_t left_at;
    *is_of_person = c->id && (!who->bsuid || is_set_and_equal(c->bsuid, who->bsuid) ||
                              is_set_and_equal(c->parent_bsuid, who->parent_bsuid) ||
                              (!c->bsuid && !found->is_former));
    if (!c->id || *is_of_person)
        return true;
    if (c->bsuid)
        return found->is_former || has_old_bsuid(p, c, is_of_person);
    if (!find_left_at(p, c, who->phone, &left_at))
        return false;
    *is_of_person = !left_at;
    return true;
}

/* The contacts that the identities of one person in a payload lead to. Another transaction could
 * merge them or change their identities: they are locked. */
struct match {
    struct found by_bsuid, by_parent, by_phone;
    bool is_phone_of_person; /* the contact of the phone is this person */
};

enum { BY_BSUID, BY_PARENT, BY_PHONE, IDENTITIES };

static bool read_match(struct person *p, const struct store_identity *who,
                       const struct found found[IDENTITIES], struct match *m) {
    m->by_bsuid = found[BY_BSUID];
    m->by_parent = found[BY_PARENT];
    m->by_phone = found[BY_PHONE];
    return check_phone(p, &m->by_phone, who, &m->is_phone_of_person);
}

static bool match(struct person *p, const struct store_identity *who, struct match *m) {
    const char *const identities[IDENTITIES] = {who->bsuid, who->parent_bsuid, who->phone};
    struct found found[IDENTITIES];
    return person_find(p, identities, IDENTITIES, found) && read_match(p, who, found, m);
}

/* The same for two persons, whose contacts are locked together. */
static bool match_both(struct person *p, const struct store_identity *before,
                       const struct store_identity *after, struct match *from, struct match *to) {
    const char *const identities[2 * IDENTITIES] = {before->bsuid,       before->parent_bsuid,
                                                    before->phone,       after->bsuid,
                                                    after->parent_bsuid, after->phone};
    struct found found[2 * IDENTITIES];
    return person_find(p, identities, 2 * IDENTITIES, found) &&
           read_match(p, before, found, from) && read_match(p, after, found + IDENTITIES, to);
}

/* The contact found by the strongest identity; its id is NULL when none was found. */
static const struct found *best_of(const struct match *m) {
    static const struct found none;
    return m->by_bsuid.contact.id    ? &m->by_bsuid
           : m->by_parent.contact.id ? &m->by_parent
           : m->is_phone_of_person   ? &m->by_phone
                                     : &none;
}

/* The current phone and BSUID of the contacts found. */
static const char *phone_of(const struct match *m) {
    return first_of(first_of(m->by_bsuid.contact.phone, m->by_parent.contact.phone),
                    m->is_phone_of_person ? m->by_phone.contact.phone : NULL);
}

static const char *bsuid_of(const struct match *m) {
    return first_of(first_of(m->by_bsuid.contact.bsuid, m->by_parent.contact.bsuid),
                    m->is_phone_of_person ? m->by_phone.contact.bsuid : NULL);
}

static bool include_all(struct person *p, const struct match *m) {
    return person_include(p, &m->by_bsuid.contact) && person_include(p, &m->by_parent.contact) &&
           (!m->is_phone_of_person || person_include(p, &m->by_phone.contact));
}

/* Inserts a contact for a person who has none. */
static bool insert_contact(struct person *p, const char *new_id, const struct store_identity *who,
                           struct match *m) {
    bool is_recycled = m->by_phone.contact.id && !m->is_phone_of_person;
    return (!is_recycled || person_clear_phone(p, &m->by_phone.contact, who->phone)) &&
           person_insert(p, new_id, who);
}

/* --- identities in the payload of a message or a status --- */

/* The person's phone after a message from who->phone. */
static const char *phone_after_message(const struct store_identity *who, const struct match *m,
                                       bool is_late) {
    bool is_known = m->is_phone_of_person && !m->by_phone.is_former;
    bool is_alias = m->is_phone_of_person && m->by_phone.is_former; /* or a former phone */
    bool is_of_other = m->by_phone.contact.id && !m->is_phone_of_person;
    if (!who->phone || (is_late && is_of_other))
        return phone_of(m);
    if (is_alias || (is_late && !is_known))
        return first_of(phone_of(m), who->phone);
    return is_late ? first_of(m->by_bsuid.contact.phone, who->phone) : who->phone;
}

/* The person's identities after a message. A former BSUID shows that the message is late: then the
 * contact keeps its current identities. */
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
    bool is_changed;
    *contact = (struct contact){0};
    if (!who->phone && !who->bsuid && !who->parent_bsuid)
        return true;
    if (!match(&p, who, &m) || !include_all(&p, &m))
        return false;
    struct contact was = p.contact;
    if (!was.id && !new_id)
        return true;
    if (!was.id && !insert_contact(&p, new_id, who, &m))
        return false;
    struct store_identity after = after_message(who, &m);
    person_add_identities(&p, who);
    if (!person_update(&p, &after, &is_changed))
        return false;
    *contact = p.contact;
    bool has_new_bsuid = was.bsuid && !is_set_and_equal(was.bsuid, contact->bsuid);
    return !has_new_bsuid || person_insert_change(&p, &was);
}

/* --- identity changes that the platform reports --- */

/* Whether the contact had the identities of `to` before its current ones: then the two changes
 * arrived in the wrong order. Not so when its current identity is in `from`: then the person
 * changed back. */
static bool is_past(const struct match *from, const struct match *to) {
    const struct found *was = best_of(from), *is = best_of(to);
    bool is_back = is_set_and_equal(was->contact.id, is->contact.id) && !was->is_former;
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

/* A number change without a BSUID may lead to a phone that belonged to another person: to a contact
 * that had another BSUID when the change happened, or that had left the phone by then. */
static bool detect_recycling(struct person *p, const struct identity_change *change,
                             const struct match *from, struct match *to) {
    const struct contact *was = &best_of(from)->contact, *is = &to->by_phone.contact;
    int64_t left_at = 0;
    if (change->after->bsuid || change->after->parent_bsuid || !is->id ||
        is_set_and_equal(was->id, is->id))
        return true;
    if (to->by_phone.is_former && !find_left_at(p, is, change->after->phone, &left_at))
        return false;
    if ((left_at && left_at < change->at) ||
        (was->bsuid && is->bsuid && is->created_at < change->at))
        to->is_phone_of_person = false;
    return true;
}

/* The person's identities before the change: those that are stored, else those in the payload. */
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
    bool is_changed;
    if (!match_both(&p, change->before, change->after, &from, &to) ||
        !detect_recycling(&p, change, &from, &to))
        return false;
    struct store_identity who = after_change(change->after, &from, &to);
    struct contact was = known_before(change->before, &from);
    if (!who.phone && !who.bsuid && !who.parent_bsuid)
        return true;
    if (!include_all(&p, &from) || !include_all(&p, &to) ||
        (!p.contact.id && !insert_contact(&p, new_id, &who, &to)))
        return false;
    person_add_identities(&p, change->before);
    person_add_identities(&p, change->after);
    return person_update(&p, &who, &is_changed) && (!is_changed || person_insert_change(&p, &was));
}
