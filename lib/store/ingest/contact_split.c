/* A division refuses the changes that join the identity to the others of the contact: those that
 * led to it, or, if there are none or they do not divide the contact, those that led away from it.
 * What was reported to follow from the identity goes with it. Contacts, messages, threads, blocks
 * and former ids are derived anew (regroup.c); a repetition of a report does not join them again.
 */
#include "store/contact_split.h"

#include "store/ingest/regroup.h"

static const char *or_null(const char *text) {
    return *text ? text : NULL;
}

/* --- the contact --- */

/* Finds the contact or the one that it was merged into, and its account. False: there is none. */
static bool find_contact(struct regroup *r, struct store_contact_split *split) {
    static struct statement s = {
        .sql = "SELECT id, account_id FROM contact WHERE id = ?1 UNION ALL "
               "SELECT contact_id, account_id FROM contact_merge WHERE merged_id = ?1 LIMIT 1"};
    sql_start(r->merge.store, &s, TEXT(split->contact_id));
    if (!sql_row(r->merge.store, &s))
        return false;
    split->remaining_id = column_text(&s, 0, r->merge.arena);
    r->merge.account_id = r->signs.account_id = column_text(&s, 1, r->merge.arena);
    sql_stop(&s);
    return true;
}

static bool has_read_contact(const struct signs *signs, const char *id) {
    for (size_t i = 0; i < signs->contact_count; i++)
        if (strcmp(signs->contacts[i].id, id) == 0)
            return true;
    return false;
}

/* Reads and locks what is connected with the contact. Another transaction may merge it before it is
 * locked: then the one that remained is read. */
static enum store_result read_contact(struct regroup *r, struct store_contact_split *split) {
    do {
        if (!find_contact(r, split))
            return STORE_NOT_FOUND;
        if (!signs_read_of(&r->signs, split->remaining_id))
            return STORE_OK; /* sql_result returns the failure */
    } while (!has_read_contact(&r->signs, split->remaining_id));
    return STORE_OK;
}

/* --- its identities --- */

static bool is_of_contact(const struct regroup *r, size_t sign, const char *contact_id) {
    return sign != NO_SIGN &&
           is_set_and_equal(r->signs.grouping.signs[sign].contact_id, contact_id);
}

static bool is_named(const char *phone, const char *bsuid, const char *identity) {
    return strcmp(phone, identity) == 0 || strcmp(bsuid, identity) == 0;
}

/* Whether a change led to the identities of the sign. */
static bool is_led_to(const struct change_sign *change, const struct sign *s) {
    return (*s->bsuid && strcmp(change->new_bsuid, s->bsuid) == 0) ||
           (!*change->new_bsuid && *s->phone && strcmp(change->new_phone, s->phone) == 0);
}

static struct store_shown_identity shown_of(const struct regroup *r, const struct sign *s) {
    const struct grouping *g = &r->signs.grouping;
    struct buffer changes = buffer_in(r->merge.arena);
    for (size_t i = 0; i < g->change_count; i++) {
        const struct change_sign *c = &g->changes[i];
        const struct store_reported_change shown = {c->at, or_null(c->old_phone),
                                                    or_null(c->old_bsuid), c->refused_at != 0};
        if (is_led_to(c, s))
            buffer_add(&changes, &shown, sizeof shown);
    }
    return (struct store_shown_identity){
        .phone = or_null(s->phone),
        .bsuid = or_null(s->bsuid),
        .first_at = s->first_at,
        .last_at = s->last_at,
        .changes = (const struct store_reported_change *)(const void *)changes.p,
        .change_count = changes.n / sizeof(struct store_reported_change)};
}

static void list_identities(const struct regroup *r, struct store_contact_split *split) {
    const struct grouping *g = &r->signs.grouping;
    struct buffer rows = buffer_in(r->merge.arena);
    for (size_t i = 0; i < g->sign_count; i++) {
        if (!is_of_contact(r, i, split->remaining_id) || g->signs[i].is_blank)
            continue;
        const struct store_shown_identity shown = shown_of(r, &g->signs[i]);
        buffer_add(&rows, &shown, sizeof shown);
    }
    split->identities = buffer_array(&rows, sizeof *split->identities, &split->identity_count);
}

/* Whether the contact has the identity, and another one. */
static void find_identity(const struct regroup *r, const struct store_contact_split *split,
                          bool *has, bool *has_other) {
    const struct grouping *g = &r->signs.grouping;
    *has = *has_other = false;
    for (size_t i = 0; i < g->sign_count; i++)
        if (is_of_contact(r, i, split->remaining_id)) {
            const bool is = is_named(g->signs[i].phone, g->signs[i].bsuid, split->identity);
            *has |= is;
            *has_other |= !is;
        }
}

/* --- the changes that join them --- */

/* A change whose sides the identity divides. */
struct joint {
    size_t from, to;     /* signs */
    bool is_to_identity; /* it led to the identity; else away from it */
};

static bool has_name(const struct regroup *r, size_t sign, const char *identity) {
    const struct sign *s = &r->signs.grouping.signs[sign];
    return is_named(s->phone, s->bsuid, identity);
}

static bool read_joint(const struct regroup *r, const struct change_sign *change,
                       const char *identity, struct joint *joint) {
    grouping_sides(&r->signs.grouping, change, &joint->from, &joint->to);
    if (joint->from == NO_SIGN || joint->to == NO_SIGN)
        return false;
    const bool is_from = is_named(change->old_phone, change->old_bsuid, identity) ||
                         has_name(r, joint->from, identity);
    joint->is_to_identity = is_named(change->new_phone, change->new_bsuid, identity) ||
                            has_name(r, joint->to, identity);
    return is_from != joint->is_to_identity;
}

/* Whether a change of the contact's identity was refused before. */
static bool is_split(const struct regroup *r, const struct store_contact_split *split) {
    const struct grouping *g = &r->signs.grouping;
    for (size_t i = 0; i < g->change_count; i++) {
        struct joint joint;
        if (g->changes[i].refused_at && read_joint(r, &g->changes[i], split->identity, &joint) &&
            g->signs[joint.from].group != g->signs[joint.to].group &&
            (is_of_contact(r, joint.from, split->remaining_id) ||
             is_of_contact(r, joint.to, split->remaining_id)))
            return true;
    }
    return false;
}

/* Refuses the changes of the contact in one direction. */
static void refuse_changes(struct regroup *r, struct store_contact_split *split,
                           bool is_to_identity) {
    struct grouping *g = &r->signs.grouping;
    for (size_t i = 0; i < g->change_count; i++) {
        struct joint joint;
        if (g->changes[i].refused_at || !read_joint(r, &g->changes[i], split->identity, &joint) ||
            joint.is_to_identity != is_to_identity ||
            !is_of_contact(r, joint.from, split->remaining_id) ||
            !is_of_contact(r, joint.to, split->remaining_id))
            continue;
        g->changes[i].refused_at = split->now;
        g->changes[i].is_changed = true;
        split->refused++;
    }
    grouping_make(g);
}

/* Whether the sides of a change that this call refused are of two people now. */
static bool is_divided(const struct regroup *r, const struct store_contact_split *split) {
    const struct grouping *g = &r->signs.grouping;
    for (size_t i = 0; i < g->change_count; i++) {
        struct joint joint;
        if (g->changes[i].is_changed && read_joint(r, &g->changes[i], split->identity, &joint) &&
            g->signs[joint.from].group == g->signs[joint.to].group)
            return false;
    }
    return split->refused > 0;
}

/* The contact of the sign of the identity that was shown last. */
static void set_other(const struct regroup *r, struct store_contact_split *split) {
    const struct grouping *g = &r->signs.grouping;
    size_t best = NO_SIGN;
    for (size_t i = 0; i < g->sign_count; i++)
        if (has_name(r, i, split->identity) &&
            (best == NO_SIGN || g->signs[i].last_at > g->signs[best].last_at))
            best = i;
    split->other_id = best == NO_SIGN ? NULL : g->signs[best].contact_id;
}

/* --- all together --- */

static enum store_result divide(struct regroup *r, struct store_contact_split *split) {
    struct store *store = r->merge.store;
    struct contact none;
    bool has, has_other;
    if (!regroup_group(r))
        return STORE_OK; /* sql_result returns the failure */
    find_identity(r, split, &has, &has_other);
    refuse_changes(r, split, true);
    if (!is_divided(r, split))
        refuse_changes(r, split, false);
    if (is_divided(r, split)) {
        regroup_apply(r, &none);
    } else if (!split->refused && is_split(r, split)) {
        set_other(r, split);
        return STORE_OK;
    } else if (!has || !has_other) {
        return sql_refuse(store, STORE_CONFLICT,
                          has ? "%s is the only identity of contact %s"
                              : "%s is no identity of contact %s",
                          split->identity, split->remaining_id);
    } else {
        return sql_refuse(store, STORE_CONFLICT,
                          "%s cannot be split from contact %s: no reported change joins it, the "
                          "platform showed it together with the others",
                          split->identity, split->remaining_id);
    }
    set_other(r, split);
    return STORE_OK;
}

enum store_result store_split_contact(struct store *store, struct arena *arena,
                                      struct store_contact_split *split) {
    enum store_result found = STORE_OK;
    while (sql_transact(store)) {
        struct regroup r = {
            .merge = {.store = store, .arena = arena, .now = split->now, .reason = "split"},
            .signs = {.store = store, .arena = arena},
            .own = NO_SIGN,
            .at = split->now};
        split->remaining_id = split->other_id = NULL;
        split->refused = split->identity_count = 0;
        found = read_contact(&r, split);
        if (found != STORE_OK || sql_failed(store))
            continue;
        list_identities(&r, split);
        if (split->identity)
            found = divide(&r, split);
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK ? found : result;
}
