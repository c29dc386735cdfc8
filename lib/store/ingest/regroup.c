/* How contacts are made to agree with the persons that their signs belong to (grouping.c):
 *
 * 1. Each contact, the oldest first, goes to the person of its first sign, unless that person has a
 *    contact already. A person without a contact gets a new one, with the id of a contact that was
 *    merged before, if there is one. A contact that is left over is merged into another one.
 * 2. What each contact becomes is computed in memory: its phone and BSUID of now, its profile, the
 *    contact into which it is merged.
 * 3. The rows are written in an order in which no two contacts ever have one identity: identities
 *    are cleared, new contacts inserted, messages and history moved, signs written, contacts
 * merged, and then the wanted identities set. Aliases and the history of the changes come last.
 *
 * The result follows from the signs alone, so a late payload gives the same contacts as one that
 * arrives in time.
 */
#include "store/ingest/regroup.h"

#include <stdlib.h>

#include "store/inbox/change.h"

static struct sign *sign_at(const struct regroup *r, size_t i) {
    return &r->signs.grouping.signs[i];
}

enum { WORK_OF_COMPARISON = 2 }; /* in units of store_limit_work */

static size_t sign_count(const struct regroup *r) {
    return r->signs.grouping.sign_count;
}

static struct member *member_with(const struct regroup *r, const char *id) {
    for (size_t i = 0; i < r->member_count; i++)
        if (is_set_and_equal(r->members[i].is.id, id))
            return &r->members[i];
    return NULL;
}

static struct member *member_of_group(const struct regroup *r, size_t group) {
    for (size_t i = 0; i < r->member_count; i++)
        if (r->members[i].group == group)
            return &r->members[i];
    return NULL;
}

static const char *first_of(const char *a, const char *b) {
    return a ? a : b;
}

/* --- which contact each person has --- */

static int compare_age(const void *a, const void *b) {
    const struct contact *first = &((const struct member *)a)->is,
                         *second = &((const struct member *)b)->is;
    return first->created_at != second->created_at
               ? (first->created_at > second->created_at) - (first->created_at < second->created_at)
               : strcmp(first->id, second->id);
}

static void add_members(struct regroup *r) {
    const struct signs *signs = &r->signs;
    r->members =
        arena_alloc(r->merge.arena, (signs->contact_count + sign_count(r)) * sizeof *r->members);
    for (r->member_count = 0; r->member_count < signs->contact_count; r->member_count++) {
        const struct contact *contact = &signs->contacts[r->member_count];
        r->members[r->member_count] =
            (struct member){.is = *contact, .wanted = *contact, .group = NO_SIGN};
    }
    if (r->member_count > 1)
        qsort(r->members, r->member_count, sizeof *r->members, compare_age);
}

/* The contact's sign that was shown first, of a group without another contact if it has one. */
static size_t first_sign(const struct regroup *r, const struct member *member, bool is_free) {
    size_t best = NO_SIGN;
    for (size_t i = 0; i < sign_count(r); i++) {
        const struct sign *s = sign_at(r, i);
        if (s->is_gone || !is_set_and_equal(s->contact_id, member->is.id) ||
            (is_free && member_of_group(r, s->group)))
            continue;
        const struct sign *b = best == NO_SIGN ? NULL : sign_at(r, best);
        if (!b || (b->is_blank && !s->is_blank) ||
            (b->is_blank == s->is_blank && s->first_at < b->first_at))
            best = i;
    }
    return best;
}

/* An older contact chooses before a younger one. */
static void choose_groups(struct regroup *r) {
    for (size_t i = 0; i < r->member_count; i++) {
        const size_t sign = first_sign(r, &r->members[i], true);
        if (sign != NO_SIGN)
            r->members[i].group = sign_at(r, sign)->group;
    }
}

/* Finds a contact that was merged into another one with an identity of the group, and that is a
 * contact again now: the new one gets its id. */
static bool restore_id(struct regroup *r, size_t group, struct member *member) {
    static struct statement find = {
        .sql = "SELECT merged_id FROM contact_merge WHERE contact_id = ?1 "
               "AND merged_id IS NOT NULL AND (bsuid = ?2 OR (?2 = '' AND phone = ?3)) LIMIT 1"};
    static struct statement remove = {.sql = "DELETE FROM contact_merge WHERE merged_id = ?1"};
    char *id = arena_alloc(r->merge.arena, ID_SIZE);
    for (size_t i = 0; i < sign_count(r); i++) {
        const struct sign *s = sign_at(r, i);
        if (s->group != group || s->is_gone || !s->contact_id)
            continue;
        sql_start(r->merge.store, &find, TEXT(s->contact_id), TEXT(s->bsuid), TEXT(s->phone));
        if (!sql_read_id(r->merge.store, &find, id))
            continue;
        member->is.id = id;
        return sql_run_later(r->merge.store, &remove, TEXT(id));
    }
    return !sql_failed(r->merge.store);
}

static bool make_member(struct regroup *r, size_t group) {
    const bool is_own = r->own != NO_SIGN && sign_at(r, r->own)->group == group && r->new_id;
    struct member member = {.group = group, .is_made = true};
    char *id = arena_alloc(r->merge.arena, ID_SIZE);
    id_make(id, "con_", r->merge.now);
    member.is.id = is_own ? r->new_id : id;
    if (!restore_id(r, group, &member))
        return false;
    member.is.account_id = r->merge.account_id;
    member.is.created_at = r->merge.now;
    member.wanted = member.is;
    r->members[r->member_count++] = member;
    return true;
}

static bool make_members(struct regroup *r) {
    for (size_t i = 0; i < sign_count(r); i++)
        if (!sign_at(r, i)->is_gone && !member_of_group(r, sign_at(r, i)->group) &&
            !make_member(r, sign_at(r, i)->group))
            return false;
    return true;
}

/* Contacts that remain without a group are merged into the contact of their first sign. */
static void set_targets(struct regroup *r) {
    r->targets = arena_alloc(r->merge.arena, (sign_count(r) + 1) * sizeof *r->targets);
    for (size_t i = 0; i < sign_count(r); i++)
        if (!sign_at(r, i)->is_gone)
            r->targets[i] = member_of_group(r, sign_at(r, i)->group)->is.id;
    for (size_t i = 0; i < r->member_count; i++) {
        struct member *member = &r->members[i];
        const size_t sign = first_sign(r, member, false);
        if (member->group == NO_SIGN && sign != NO_SIGN)
            member->into = r->targets[sign];
    }
}

/* --- the present identities --- */

/* Whether the platform has shown the identity: then the signs decide whose it is. */
static bool is_shown(const struct regroup *r, const char *identity) {
    for (size_t i = 0; i < sign_count(r); i++)
        if (!sign_at(r, i)->is_blank && !sign_at(r, i)->is_gone &&
            (strcmp(sign_at(r, i)->phone, identity) == 0 ||
             strcmp(sign_at(r, i)->bsuid, identity) == 0))
            return true;
    return false;
}

static const char *parent_of(const struct regroup *r, const struct member *member) {
    const char *any = member->is.parent_bsuid;
    for (size_t i = 0; i < sign_count(r); i++) {
        const struct sign *s = sign_at(r, i);
        if (s->group != member->group || s->is_gone || !s->parent)
            continue;
        if (is_set_and_equal(s->bsuid, member->wanted.bsuid))
            return s->parent;
        any = first_of(any, s->parent);
    }
    return any;
}

static bool is_latest(const struct regroup *r, size_t group) {
    for (size_t i = 0; i < sign_count(r); i++)
        if (sign_at(r, i)->group == group && !sign_at(r, i)->is_gone &&
            sign_at(r, i)->last_at > r->at)
            return false;
    return true;
}

static void set_profile(const struct regroup *r, struct member *member) {
    struct contact *c = &member->wanted;
    for (size_t i = 0; i < r->member_count; i++)
        if (is_set_and_equal(r->members[i].into, member->is.id))
            contact_set_profile(c, c, &r->members[i].is);
    if (!r->who || sign_at(r, r->own)->group != member->group)
        return;
    const bool is_new = is_latest(r, member->group);
    contact_set_profile(c, is_new ? r->who : c, is_new ? c : r->who);
}

/* The identity that another contact has, which is merged into this one, and that the platform has
 * not shown. */
static const char *blank_identity(const struct regroup *r, const struct member *member,
                                  bool is_phone) {
    for (size_t i = 0; i < r->member_count; i++) {
        const struct member *other = &r->members[i];
        const char *identity = is_phone ? other->is.phone : other->is.bsuid;
        if (identity && !is_shown(r, identity) &&
            (other == member || is_set_and_equal(other->into, member->is.id)))
            return identity;
    }
    return NULL;
}

static void set_wanted(const struct regroup *r, struct member *member) {
    const struct grouping *g = &r->signs.grouping;
    struct contact *c = &member->wanted;
    if (member->group == NO_SIGN)
        return;
    c->phone =
        first_of(grouping_phone(g, member->group, c->phone), blank_identity(r, member, true));
    c->bsuid = first_of(grouping_bsuid(g, member->group, c->phone, c->bsuid),
                        blank_identity(r, member, false));
    c->parent_bsuid = parent_of(r, member);
    set_profile(r, member);
}

/* A phone that the platform has not shown is of one contact only. */
static void drop_doubles(const struct regroup *r, struct member *member) {
    for (size_t i = 0; i < r->member_count; i++) {
        const struct member *other = &r->members[i];
        if (other == member || other->into || other->group == NO_SIGN)
            continue;
        if (member->group == NO_SIGN && is_set_and_equal(other->wanted.phone, member->wanted.phone))
            member->wanted.phone = NULL;
    }
}

/* --- writing --- */

static bool has_other_identities(const struct member *member) {
    const struct contact *is = &member->is, *wanted = &member->wanted;
    return !is_equal_or_both_null(is->phone, wanted->phone) ||
           !is_equal_or_both_null(is->bsuid, wanted->bsuid);
}

static bool is_different(const struct member *member) {
    const struct contact *is = &member->is, *wanted = &member->wanted;
    return has_other_identities(member) ||
           !is_equal_or_both_null(is->parent_bsuid, wanted->parent_bsuid) ||
           !contact_has_profile_of(is, wanted);
}

/* Frees the identities that move from one contact to another. */
static bool clear_identities(const struct regroup *r) {
    static struct statement s = {.sql =
                                     "UPDATE contact SET phone = NULL, bsuid = NULL WHERE id = ?1"};
    for (size_t i = 0; r->member_count > 1 && i < r->member_count; i++) {
        const struct member *member = &r->members[i];
        if (!member->is_made && (member->into || has_other_identities(member)) &&
            (member->is.phone || member->is.bsuid) &&
            !sql_run_later(r->merge.store, &s, TEXT(member->is.id)))
            return false;
    }
    return true;
}

static bool update_member(const struct regroup *r, const struct member *member) {
    return contact_update(r->merge.store, &member->wanted, r->merge.now) &&
           change_contact(r->merge.store, r->merge.arena, member->wanted.id);
}

static bool insert_members(const struct regroup *r) {
    for (size_t i = 0; i < r->member_count; i++)
        if (r->members[i].is_made && !contact_insert(r->merge.store, &r->members[i].wanted))
            return false;
    return true;
}

static bool update_members(const struct regroup *r) {
    for (size_t i = 0; i < r->member_count; i++) {
        const struct member *member = &r->members[i];
        if (!member->is_made && !member->into && is_different(member) && !update_member(r, member))
            return false;
    }
    return true;
}

static bool merge_members(const struct regroup *r) {
    for (size_t i = 0; i < r->member_count; i++)
        if (r->members[i].into && !merge_contacts(&r->merge, &r->members[i].is, r->members[i].into))
            return false;
    return true;
}

/* --- messages of signs whose contact changes --- */

/* Moves the messages unless their whole contact is merged into the target. */
static bool move_from(const struct regroup *r, const char *from, const char *to,
                      const struct message_filter *filter) {
    const struct member *member = from ? member_with(r, from) : NULL;
    if (!member || strcmp(from, to) == 0 || is_set_and_equal(member->into, to))
        return true;
    return message_move(&r->merge, from, to, filter);
}

static bool move_of_bsuids(const struct regroup *r) {
    for (size_t i = 0; i < sign_count(r); i++) {
        const struct sign *s = sign_at(r, i);
        const struct message_filter filter = {.bsuid = s->bsuid};
        if (*s->bsuid && !s->is_gone && s->is_stored &&
            !move_from(r, s->contact_id, r->targets[i], &filter))
            return false;
    }
    return true;
}

static int compare_positions(const void *a, const void *b) {
    const int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

/* The positions from which on another person may have the phone, ascending. */
static size_t find_turns(const struct regroup *r, const char *phone, int64_t **turns) {
    struct buffer found = buffer_in(r->merge.arena);
    const struct grouping *g = &r->signs.grouping;
    int64_t position = 0;
    buffer_add(&found, &position, sizeof position);
    for (size_t i = 0; i < g->sign_count; i++) {
        const struct sign *s = &g->signs[i];
        if (s->is_gone || s->is_blank || strcmp(s->phone, phone) != 0)
            continue;
        const int64_t own[] = {position_of(s->first_at), position_of(s->last_at) + 1,
                               grouping_boundary(g, phone, position_of(s->first_at)), s->since};
        buffer_add(&found, own, sizeof own);
    }
    for (size_t i = 0; i < g->change_count; i++) {
        const int64_t at = position_of(g->changes[i].at), own[] = {at, at + 1};
        buffer_add(&found, own, sizeof own);
    }
    *turns = (int64_t *)(void *)found.p;
    const size_t count = found.n / sizeof **turns;
    qsort(*turns, count, sizeof **turns, compare_positions);
    return count;
}

/* Moves the messages that came with the phone alone between the positions. */
static bool move_between(const struct regroup *r, const char *phone, int64_t begin, int64_t end) {
    const size_t holder = grouping_holder(&r->signs.grouping, phone, begin);
    const struct message_filter filter = {.phone = phone, .begin = begin, .end = end};
    if (holder == NO_SIGN)
        return true;
    for (size_t i = 0; i < r->member_count; i++) {
        const struct member *member = &r->members[i];
        bool has_phone = false;
        for (size_t j = 0; j < sign_count(r) && !has_phone; j++)
            has_phone = is_set_and_equal(sign_at(r, j)->contact_id, member->is.id) &&
                        strcmp(sign_at(r, j)->phone, phone) == 0;
        if (has_phone && !move_from(r, member->is.id, r->targets[holder], &filter))
            return false;
    }
    return true;
}

static bool move_of_phone(const struct regroup *r, const char *phone) {
    int64_t *turns;
    const size_t count = find_turns(r, phone, &turns);
    for (size_t i = 0; i < count; i++) {
        const int64_t end = i + 1 < count ? turns[i + 1] : INT64_MAX;
        if (turns[i] < end && !move_between(r, phone, turns[i], end))
            return false;
    }
    return true;
}

/* Whether the phone was shown alone, and not by one contact that keeps it. */
static bool is_phone_to_move(const struct regroup *r, size_t index) {
    const struct sign *alone = sign_at(r, index);
    if (*alone->bsuid || alone->is_blank || !*alone->phone)
        return false;
    for (size_t i = 0; i < index; i++)
        if (!*sign_at(r, i)->bsuid && !sign_at(r, i)->is_blank &&
            strcmp(sign_at(r, i)->phone, alone->phone) == 0)
            return false;
    return r->member_count > 1;
}

static bool move_messages(const struct regroup *r) {
    if (!move_of_bsuids(r))
        return false;
    for (size_t i = 0; i < sign_count(r); i++)
        if (is_phone_to_move(r, i) && !move_of_phone(r, sign_at(r, i)->phone))
            return false;
    return true;
}

/* --- what leads to a contact --- */

static bool has_column(const struct contact *c, const char *name) {
    return is_set_and_equal(c->phone, name) || is_set_and_equal(c->bsuid, name) ||
           is_set_and_equal(c->parent_bsuid, name);
}

static bool delete_alias(const struct regroup *r, const char *name) {
    static struct statement s = {
        .sql = "DELETE FROM contact_alias WHERE account_id = ?1 AND identity = ?2"};
    return sql_run_later(r->merge.store, &s, TEXT(r->merge.account_id), TEXT(name));
}

static size_t sign_of_name(const struct regroup *r, const char *name) {
    for (size_t i = 0; i < sign_count(r); i++)
        if (!sign_at(r, i)->is_gone && (strcmp(sign_at(r, i)->bsuid, name) == 0 ||
                                        is_set_and_equal(sign_at(r, i)->parent, name)))
            return i;
    return grouping_last(&r->signs.grouping, name);
}

static bool lead_name(const struct regroup *r, const struct name_lead *lead) {
    const size_t sign = sign_of_name(r, lead->name);
    if (sign == NO_SIGN)
        return true;
    const struct member *target = member_with(r, r->targets[sign]);
    const struct member *was = lead->contact_id ? member_with(r, lead->contact_id) : NULL;
    const bool was_alias = was && !has_column(&was->is, lead->name);
    if (has_column(&target->wanted, lead->name))
        return !was_alias || delete_alias(r, lead->name);
    return (was_alias && was == target) ||
           contact_upsert_alias(r->merge.store, r->merge.account_id, lead->name, target->is.id,
                                r->merge.now);
}

static bool lead_names(const struct regroup *r) {
    const struct name_lead *leads = (const struct name_lead *)(const void *)r->signs.leads.p;
    for (size_t i = 0; i < r->signs.leads.n / sizeof *leads; i++)
        if (!lead_name(r, &leads[i]))
            return false;
    return true;
}

/* --- what the history of a contact shows --- */

static bool is_taken(const struct regroup *r, const struct member *member) {
    for (size_t i = 0; i < r->member_count; i++)
        if (&r->members[i] != member && member->is.phone &&
            is_set_and_equal(r->members[i].wanted.phone, member->is.phone))
            return true;
    return false;
}

/* The identities before a change: those that are stored, else those that the change names. */
static struct contact before_of(const struct regroup *r, const struct member *member) {
    struct contact before = member->is;
    if (!r->before || sign_at(r, r->own)->group != member->group)
        return before;
    before.phone = first_of(before.phone, r->before->phone);
    before.bsuid = first_of(before.bsuid, r->before->bsuid);
    before.parent_bsuid = first_of(before.parent_bsuid, r->before->parent_bsuid);
    return before;
}

static bool insert_history_of(const struct regroup *r, const struct member *m) {
    const struct contact before = before_of(r, m);
    const bool has_new_bsuid = m->is.bsuid && !is_set_and_equal(m->is.bsuid, m->wanted.bsuid);
    if (!m->is_made && is_taken(r, m))
        return merge_insert(&r->merge, &m->is, NULL, m->is.id, "recycled_phone");
    return !(has_new_bsuid || (r->before && (m->is_made || has_other_identities(m)))) ||
           merge_insert(&r->merge, &before, NULL, m->is.id, r->merge.reason);
}

static bool insert_history(const struct regroup *r) {
    for (size_t i = 0; i < r->member_count; i++)
        if (!r->members[i].into && !insert_history_of(r, &r->members[i]))
            return false;
    return true;
}

/* Rows of a sign's contact that follow the sign to another contact: former contacts that were
 * merged with its identity, and blocks of it. A block of both contacts of a merge stays with both.
 * So does a hold, which was set for all messages that the contact had. */
static bool move_rows(const struct regroup *r, const struct sign *sign, const char *to) {
    static struct statement steps[] = {
        {.sql = "UPDATE contact_merge SET contact_id = ?2 WHERE (bsuid = ?3 "
                "OR (?4 = 1 AND bsuid IS NULL AND phone = ?3)) AND contact_id = ?1"},
        {.sql = "INSERT INTO contact_block (user_id, line_id, contact_id, created_at, identity) "
                "SELECT user_id, line_id, ?2, created_at, identity FROM contact_block "
                "WHERE contact_id = ?1 AND (identity = ?3 OR identity = '') AND ?4 >= 0 "
                "ON CONFLICT (line_id, contact_id) DO NOTHING"},
        {.sql = "DELETE FROM contact_block WHERE contact_id = ?1 AND identity = ?3 AND ?2 <> '' "
                "AND ?4 >= 0"},
        {.sql = "UPDATE contact SET held_at = (SELECT f.held_at FROM contact f WHERE f.id = ?1) "
                "WHERE id = ?2 AND held_at IS NULL AND ?3 <> '' AND ?4 >= 0 AND EXISTS (SELECT 1 "
                "FROM contact f WHERE f.id = ?1 AND f.held_at IS NOT NULL)"},
    };
    const char *identity = *sign->bsuid ? sign->bsuid : sign->phone;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!sql_run_later(r->merge.store, &steps[i], TEXT(sign->contact_id), TEXT(to),
                           TEXT(identity), INTEGER(!*sign->bsuid)))
            return false;
    return true;
}

static bool move_history(const struct regroup *r) {
    for (size_t i = 0; i < sign_count(r); i++) {
        const struct sign *sign = sign_at(r, i);
        const struct member *from =
            sign->contact_id && !sign->is_gone ? member_with(r, sign->contact_id) : NULL;
        if (from && !is_set_and_equal(from->into, r->targets[i]) &&
            strcmp(from->is.id, r->targets[i]) != 0 && !move_rows(r, sign, r->targets[i]))
            return false;
    }
    return true;
}

/* --- all together --- */

static bool write_signs(struct regroup *r) {
    for (size_t i = 0; i < sign_count(r); i++) {
        struct sign *s = sign_at(r, i);
        if (s->is_gone)
            continue;
        s->is_changed = s->is_changed || !is_set_and_equal(s->contact_id, r->targets[i]);
        s->contact_id = r->targets[i];
    }
    return signs_write(&r->signs);
}

/* The work of grouping: each identity is compared with each other one and with each change. */
static int64_t work_of(const struct grouping *g) {
    const int64_t count = (int64_t)(g->sign_count + g->change_count);
    return count * count * WORK_OF_COMPARISON;
}

/* A phone alone has one sign for the time between two changes of its owner. In that time a person
 * may have got it without a report, so the payload is of the person who has it at the payload's
 * time, and not of the one who had it when the sign was first shown. */
static void find_own(struct regroup *r) {
    const struct grouping *g = &r->signs.grouping;
    if (r->own == NO_SIGN || *sign_at(r, r->own)->bsuid)
        return;
    const size_t holder = grouping_holder(g, sign_at(r, r->own)->phone, position_of(r->at));
    if (holder != NO_SIGN)
        r->own = holder;
}

bool regroup_group(struct regroup *r) {
    if (!sql_is_within_limit(r->merge.store, work_of(&r->signs.grouping)))
        return false;
    grouping_make(&r->signs.grouping);
    find_own(r);
    return true;
}

bool regroup_apply(struct regroup *r, struct contact *contact) {
    *contact = (struct contact){0};
    add_members(r);
    choose_groups(r);
    if (!make_members(r))
        return false;
    set_targets(r);
    for (size_t i = 0; i < r->member_count; i++)
        set_wanted(r, &r->members[i]);
    for (size_t i = 0; i < r->member_count; i++)
        drop_doubles(r, &r->members[i]);
    if (!clear_identities(r) || !insert_members(r) || !move_messages(r) || !move_history(r) ||
        !write_signs(r) || !merge_members(r) || !update_members(r) || !lead_names(r) ||
        !insert_history(r))
        return false;
    if (r->own != NO_SIGN)
        *contact = member_with(r, r->targets[r->own])->wanted;
    return true;
}
