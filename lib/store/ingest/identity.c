/* How the contact of a payload is found. Nearly every payload shows a person as the last one did:
 * one read finds the sign of these identities and its contact (try_usual), and the time of the sign
 * is extended. Every other payload is a new sign. Then all signs and changes that share an identity
 * with it are read and locked (sign.c), they are divided into persons (grouping.c), and the
 * contacts are made to agree with the persons (regroup.c).
 */
#include "store/ingest/identity.h"

#include <stdio.h>
#include <string.h>

#include "store/inbox/change.h"
#include "store/ingest/regroup.h"

static struct regroup start(const struct occasion *o, const char *reason) {
    return (struct regroup){
        .merge = {.store = o->store,
                  .arena = o->arena,
                  .account_id = o->account_id,
                  .now = o->now,
                  .reason = reason},
        .signs = {.store = o->store, .arena = o->arena, .account_id = o->account_id},
        .new_id = o->new_id,
        .own = NO_SIGN,
        .at = o->at};
}

/* --- a person whose identities are known --- */

/* A sign that is stored, and its contact. */
struct known {
    struct sign sign;
    struct contact contact;
};

static struct statement find_known = {
    .sql = "SELECT s.first_at, s.last_at, s.parent_bsuid, s.since, " CONTACT_COLUMNS
           " FROM contact_sign s JOIN contact c "
           "ON c.id = s.contact_id WHERE s.account_id = ?1 AND s.phone = ?2 AND s.bsuid = ?3 "
           "ORDER BY s.since DESC LIMIT 1"};

static struct statement lock_known = {
    .takes_lock = true,
    .sql =
        "SELECT c.id FROM contact_sign s JOIN contact c ON c.id = s.contact_id "
        "WHERE s.account_id = ?2 AND s.phone = ?3 AND s.bsuid = ?4 ORDER BY s.since DESC LIMIT 1"};

static void start_known(const struct occasion *o, const struct contact *who) {
    sql_start(o->store, &find_known, TEXT(o->account_id), TEXT(sign_phone(who)),
              TEXT(sign_bsuid(who)));
}

void identity_read_ahead(struct occasion *o, const struct contact *who) {
    const struct parameter sign[] = {TEXT(o->account_id), TEXT(sign_phone(who)),
                                     TEXT(sign_bsuid(who))};
    o->is_read_ahead = sql_reads_ahead(o->store);
    if (!o->is_read_ahead)
        return;
    sql_start_locking(o->store, &lock_known, LOCK_CONTACT, o->account_id, sign, 3);
    start_known(o, who);
}

/* Reads the sign with these identities; known->contact.id is NULL if there is none. */
static bool read_known(const struct occasion *o, const struct contact *who, bool is_started,
                       struct known *known) {
    struct statement *s = &find_known;
    *known = (struct known){.sign = {.phone = sign_phone(who), .bsuid = sign_bsuid(who)}};
    if (!is_started)
        start_known(o, who);
    if (!sql_row(o->store, s))
        return !sql_failed(o->store);
    known->sign.first_at = column_integer(s, 0);
    known->sign.last_at = column_integer(s, 1);
    known->sign.parent = column_text(s, 2, o->arena);
    known->sign.since = column_integer(s, 3);
    row_read(s, 4, o->arena, &contact_layout, &known->contact);
    sql_stop(s);
    return true;
}

/* Whether the payload adds nothing to what is known but a later time. */
static bool is_usual(const struct occasion *o, const struct contact *who,
                     const struct known *known) {
    const struct contact *c = &known->contact;
    if (!c->id || o->at < known->sign.first_at)
        return false;
    if (who->bsuid && who->parent_bsuid && !is_set_and_equal(known->sign.parent, who->parent_bsuid))
        return false;
    if (!*known->sign.bsuid)
        return !c->bsuid && is_set_and_equal(c->phone, who->phone) &&
               known->sign.since <= position_of(known->sign.first_at);
    return o->at <= known->sign.last_at ||
           (is_set_and_equal(c->bsuid, known->sign.bsuid) &&
            (!who->phone || is_set_and_equal(c->phone, who->phone)));
}

static bool update_profile(const struct occasion *o, const struct contact *who, struct contact *c) {
    const struct contact was = *c;
    contact_set_profile(c, who, c);
    return contact_has_profile_of(c, &was) ||
           (contact_update(o->store, c, o->now) && change_contact(o->store, o->arena, c->id));
}

/* Handles a payload that adds nothing to what is known. Another transaction may change the contact
 * before it is locked: then it is read again. *is_done: it is such a payload. */
static bool try_usual(const struct occasion *o, const struct contact *who, struct contact *contact,
                      bool *is_done) {
    struct known known;
    char locked[ID_SIZE] = "";
    *is_done = false;
    if (o->is_read_ahead)
        sql_read_id(o->store, &lock_known, locked);
    for (bool is_started = o->is_read_ahead;; is_started = false) {
        if (!read_known(o, who, is_started, &known))
            return false;
        if (!is_usual(o, who, &known))
            return true;
        if (sql_is_only_writer(o->store) || strcmp(locked, known.contact.id) == 0)
            break;
        snprintf(locked, sizeof locked, "%s", known.contact.id);
        contact_lock(o->store, o->account_id, locked);
    }
    *is_done = true;
    *contact = known.contact;
    if (o->at < known.sign.last_at)
        return true;
    return (o->at == known.sign.last_at ||
            sign_extend(o->store, o->account_id, &known.sign, o->at)) &&
           update_profile(o, who, contact);
}

/* --- all others --- */

/* Whether one of the signs of the payload's person has a contact. */
static bool has_contact(const struct regroup *r) {
    const struct grouping *g = &r->signs.grouping;
    for (size_t i = 0; i < g->sign_count; i++)
        if (g->signs[i].group == g->signs[r->own].group && g->signs[i].contact_id)
            return true;
    return false;
}

bool identity_resolve(const struct occasion *o, const struct contact *who,
                      struct contact *contact) {
    const char *const names[] = {who->phone, who->bsuid, who->parent_bsuid};
    struct regroup r = start(o, "same_payload");
    bool is_done;
    *contact = (struct contact){0};
    if (!who->phone && !who->bsuid && !who->parent_bsuid)
        return true;
    if (!try_usual(o, who, contact, &is_done) || is_done)
        return is_done;
    *contact = (struct contact){0};
    if (!signs_read(&r.signs, names, 3))
        return false;
    signs_show(&r.signs, who, o->at, true, &r.own);
    r.who = who;
    return regroup_group(&r) && ((!o->new_id && !has_contact(&r)) || regroup_apply(&r, contact));
}

/* Whether a payload with the phone alone showed the sign: a message, or a change of the phone's
 * owner at its beginning or end. */
static bool has_payload(const struct regroup *r, const struct sign *s, bool *has) {
    const struct grouping *g = &r->signs.grouping;
    const struct message_filter filter = {.phone = s->phone,
                                          .begin = s->since,
                                          .end = grouping_boundary_after(g, s->phone, s->since)};
    *has = false;
    for (size_t i = 0; !*has && i < g->change_count; i++) {
        const struct change_sign *c = &g->changes[i];
        *has = (strcmp(c->new_phone, s->phone) == 0 && position_of(c->at) == filter.begin) ||
               (strcmp(c->old_phone, s->phone) == 0 && position_of(c->at) + 1 == filter.end);
    }
    for (size_t i = 0; !*has && i < r->signs.contact_count; i++)
        if (!message_exists(&r->merge, r->signs.contacts[i].id, &filter, has))
            return false;
    return true;
}

/* Drops the signs that arose when one was divided, and that no payload has shown. */
static bool drop_signs_without_payload(struct regroup *r) {
    for (size_t i = 0; i < r->signs.grouping.sign_count; i++) {
        struct sign *s = &r->signs.grouping.signs[i];
        bool has = true;
        if (s->is_divided && !has_payload(r, s, &has))
            return false;
        s->is_gone = s->is_gone || !has;
        s->is_changed = s->is_changed || !has;
    }
    return true;
}

bool identity_change(const struct occasion *o, const struct contact *before,
                     const struct contact *after, const char *reason) {
    const char *const names[] = {before->phone, before->bsuid, before->parent_bsuid,
                                 after->phone,  after->bsuid,  after->parent_bsuid};
    struct regroup r = start(o, reason);
    struct contact contact;
    const struct change_sign change = {.at = o->at,
                                       .old_phone = sign_phone(before),
                                       .old_bsuid = sign_bsuid(before),
                                       .new_phone = sign_phone(after),
                                       .new_bsuid = sign_bsuid(after),
                                       .is_changed = true};
    size_t old;
    bool is_known;
    if (!*change.new_phone && !*change.new_bsuid)
        return true;
    if (!signs_read(&r.signs, names, sizeof names / sizeof *names))
        return false;
    signs_add_change(&r.signs, &change, &is_known);
    if (is_known)
        return true;
    signs_show(&r.signs, before, o->at, false, &old);
    signs_show(&r.signs, after, o->at, true, &r.own);
    r.who = after;
    r.before = before;
    return drop_signs_without_payload(&r) && regroup_group(&r) && regroup_apply(&r, &contact);
}
