#include "store/ingest/sign.h"

enum { MOST_SIGNS = 1000 };

/* The grouping uses the arrays of the buffers, which may have moved. */
static void add_sign(struct signs *signs, const struct sign *sign) {
    buffer_add(&signs->rows, sign, sizeof *sign);
    signs->grouping.signs = buffer_array(&signs->rows, sizeof *sign, &signs->grouping.sign_count);
}

static void add_change(struct signs *signs, const struct change_sign *change) {
    buffer_add(&signs->changes, change, sizeof *change);
    signs->grouping.changes =
        buffer_array(&signs->changes, sizeof *change, &signs->grouping.change_count);
}

/* --- reading --- */

static size_t find_row(const struct signs *signs, const char *phone, const char *bsuid,
                       int64_t since) {
    const struct sign *rows = signs->grouping.signs;
    for (size_t i = 0; i < signs->grouping.sign_count; i++)
        if (!rows[i].is_blank && !rows[i].is_gone && strcmp(rows[i].phone, phone) == 0 &&
            strcmp(rows[i].bsuid, bsuid) == 0 && rows[i].since == since)
            return i;
    return NO_SIGN;
}

#define SIGN_COLUMNS                                                                               \
    "s.phone, s.bsuid, s.since, s.parent_bsuid, s.contact_id, s.first_at, s.last_at"
#define OF(member) ROW_MEMBER(struct sign, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct sign, OF(phone), OF(bsuid), OF(since), OF(parent), OF(contact_id),
               OF(first_at), OF(last_at));

static bool read_rows(struct signs *signs, struct statement *s) {
    struct sign sign = {.is_stored = true};
    while (sql_row(signs->store, s)) {
        row_read(s, 0, signs->arena, &layout, &sign);
        if (find_row(signs, sign.phone, sign.bsuid, sign.since) == NO_SIGN)
            add_sign(signs, &sign);
    }
    return !sql_failed(signs->store);
}

static bool read_by_name(struct signs *signs, const char *name) {
    static struct statement s = {
        .sql = "SELECT " SIGN_COLUMNS " FROM contact_sign s WHERE s.account_id = ?1 AND s.phone = "
               "?2 UNION ALL SELECT " SIGN_COLUMNS " FROM contact_sign s WHERE s.account_id = ?1 "
               "AND s.bsuid = ?2 UNION ALL SELECT " SIGN_COLUMNS " FROM contact_sign s "
               "WHERE s.account_id = ?1 AND s.parent_bsuid = ?2"};
    sql_start(signs->store, &s, TEXT(signs->account_id), TEXT(name));
    return read_rows(signs, &s);
}

static bool read_by_contact(struct signs *signs, const char *contact_id) {
    static struct statement s = {.sql = "SELECT " SIGN_COLUMNS
                                        " FROM contact_sign s WHERE s.contact_id = ?1"};
    sql_start(signs->store, &s, TEXT(contact_id));
    return read_rows(signs, &s);
}

static bool is_same_change(const struct change_sign *a, const struct change_sign *b) {
    return a->at == b->at && strcmp(a->old_phone, b->old_phone) == 0 &&
           strcmp(a->old_bsuid, b->old_bsuid) == 0 && strcmp(a->new_phone, b->new_phone) == 0 &&
           strcmp(a->new_bsuid, b->new_bsuid) == 0;
}

static bool has_change(const struct signs *signs, const struct change_sign *change) {
    for (size_t i = 0; i < signs->grouping.change_count; i++)
        if (is_same_change(&signs->grouping.changes[i], change))
            return true;
    return false;
}

#define CHANGES_WITH(column)                                                                       \
    "SELECT at, old_phone, old_bsuid, new_phone, new_bsuid, coalesce(refused_at, 0) "              \
    "FROM identity_change "                                                                        \
    "WHERE account_id = ?1 AND " SQL_IS(column, "?2")

#define OF_CHANGE(member) ROW_MEMBER(struct change_sign, member)
static const struct row_layout change_layout =
    ROW_LAYOUT(struct change_sign, OF_CHANGE(at), OF_CHANGE(old_phone), OF_CHANGE(old_bsuid),
               OF_CHANGE(new_phone), OF_CHANGE(new_bsuid), OF_CHANGE(refused_at));

#define UNION " UNION ALL "

static bool read_changes(struct signs *signs, const char *name) {
    static struct statement s = {.sql = CHANGES_WITH("old_phone") UNION CHANGES_WITH("old_bsuid")
                                     UNION CHANGES_WITH("new_phone")
                                         UNION CHANGES_WITH("new_bsuid")};
    struct change_sign change = {.is_changed = false};
    sql_start(signs->store, &s, TEXT(signs->account_id), TEXT(name));
    while (sql_row(signs->store, &s)) {
        row_read(&s, 0, signs->arena, &change_layout, &change);
        if (!has_change(signs, &change))
            add_change(signs, &change);
    }
    return !sql_failed(signs->store);
}

/* --- reading all that is connected --- */

/* A list of texts without doubles; those from `done` on are still to be looked up. */
struct texts {
    struct buffer list; /* of const char * */
    size_t done;
};

static const char *text_at(const struct texts *texts, size_t i) {
    return ((const char *const *)(const void *)texts->list.p)[i];
}

static size_t text_count(const struct texts *texts) {
    return texts->list.n / sizeof(const char *);
}

static bool has_text(const struct texts *texts, const char *text) {
    for (size_t i = 0; i < text_count(texts); i++)
        if (strcmp(text_at(texts, i), text) == 0)
            return true;
    return false;
}

static void add_text(struct texts *texts, const char *text) {
    if (text && *text && !has_text(texts, text))
        buffer_add(&texts->list, &text, sizeof text);
}

/* A search in progress: identities and contacts. */
struct search {
    struct texts names, contacts;
    size_t rows_done, changes_done;
};

static void add_found(struct signs *signs, struct search *search) {
    for (; search->rows_done < signs->grouping.sign_count; search->rows_done++) {
        const struct sign *sign = &signs->grouping.signs[search->rows_done];
        add_text(&search->names, sign->phone);
        add_text(&search->names, sign->bsuid);
        add_text(&search->names, sign->parent);
        add_text(&search->contacts, sign->contact_id);
    }
    for (; search->changes_done < signs->grouping.change_count; search->changes_done++) {
        const struct change_sign *change = &signs->grouping.changes[search->changes_done];
        add_text(&search->names, change->old_phone);
        add_text(&search->names, change->old_bsuid);
        add_text(&search->names, change->new_phone);
        add_text(&search->names, change->new_bsuid);
    }
}

static bool look_up_name(struct signs *signs, struct search *search, const char *name) {
    char id[ID_SIZE];
    struct name_lead lead = {.name = name};
    if (contact_find(signs->store, signs->account_id, name, id))
        lead.contact_id = arena_printf(signs->arena, "%s", id);
    add_text(&search->contacts, lead.contact_id);
    buffer_add(&signs->leads, &lead, sizeof lead);
    return !sql_failed(signs->store) && read_by_name(signs, name) && read_changes(signs, name);
}

static bool run_search(struct signs *signs, struct search *search) {
    while (signs->grouping.sign_count < MOST_SIGNS &&
           (search->names.done < text_count(&search->names) ||
            search->contacts.done < text_count(&search->contacts))) {
        const bool is_name = search->names.done < text_count(&search->names);
        if (is_name ? !look_up_name(signs, search, text_at(&search->names, search->names.done++))
                    : !read_by_contact(signs, text_at(&search->contacts, search->contacts.done++)))
            return false;
        add_found(signs, search);
    }
    return true;
}

static bool read_contacts(struct signs *signs, const struct texts *ids) {
    signs->contacts = arena_alloc(signs->arena, text_count(ids) * sizeof *signs->contacts);
    signs->contact_count = 0;
    for (size_t i = 0; i < text_count(ids); i++) {
        struct contact *contact = &signs->contacts[signs->contact_count];
        if (!contact_read(signs->store, signs->arena, text_at(ids, i), contact))
            return false;
        signs->contact_count += contact->id != NULL;
    }
    return true;
}

/* A contact that has an identity without a sign: a send or a block made it. One with a phone alone
 * joins the person that is shown with the phone. */
static void add_blank(struct signs *signs, const struct contact *contact, const char *phone,
                      const char *bsuid) {
    const struct sign blank = {.phone = phone,
                               .bsuid = bsuid,
                               .parent = NULL,
                               .contact_id = contact->id,
                               .is_blank = true};
    const struct sign *rows = signs->grouping.signs;
    for (size_t i = 0; i < signs->grouping.sign_count; i++)
        if (!rows[i].is_blank && strcmp(rows[i].contact_id, contact->id) == 0 &&
            (*bsuid ? strcmp(rows[i].bsuid, bsuid) == 0 : strcmp(rows[i].phone, phone) == 0))
            return;
    add_sign(signs, &blank);
}

static void add_blanks(struct signs *signs) {
    for (size_t i = 0; i < signs->contact_count; i++) {
        const struct contact *c = &signs->contacts[i];
        if (c->bsuid)
            add_blank(signs, c, "", c->bsuid);
        else if (c->phone)
            add_blank(signs, c, c->phone, "");
        if (c->parent_bsuid)
            add_blank(signs, c, "", c->parent_bsuid);
    }
}

static void mark_kept(struct signs *signs) {
    struct sign *rows = signs->grouping.signs;
    for (size_t i = 0; i < signs->contact_count; i++)
        for (size_t j = 0; j < signs->grouping.sign_count; j++)
            if (is_set_and_equal(rows[j].contact_id, signs->contacts[i].id) &&
                is_set_and_equal(rows[j].phone, signs->contacts[i].phone))
                rows[j].is_kept = true;
}

static bool has_all(const struct texts *texts, const struct texts *others) {
    for (size_t i = 0; i < text_count(others); i++)
        if (!has_text(texts, text_at(others, i)))
            return false;
    return true;
}

/* Another transaction may connect more signs before the contacts are locked, or merge a contact
 * into one that is not locked yet: then they are read again. */
static bool read_connected(struct signs *signs, const struct texts *names, const char *contact_id) {
    struct texts locked = {buffer_in(signs->arena), 0};
    for (bool is_stable = false; !is_stable;) {
        struct search search = {{buffer_in(signs->arena), 0}, {buffer_in(signs->arena), 0}, 0, 0};
        for (size_t i = 0; i < text_count(names); i++)
            add_text(&search.names, text_at(names, i));
        add_text(&search.contacts, contact_id);
        signs->grouping = (struct grouping){.sign_count = 0};
        signs->rows = signs->changes = signs->leads = buffer_in(signs->arena);
        if (!run_search(signs, &search))
            return false;
        is_stable = sql_is_only_writer(signs->store) || has_all(&locked, &search.contacts);
        locked = search.contacts;
        if (!is_stable)
            sql_lock(signs->store, LOCK_CONTACT, signs->account_id,
                     (const char *const *)(const void *)locked.list.p, text_count(&locked));
        else if (!read_contacts(signs, &search.contacts))
            return false;
    }
    add_blanks(signs);
    mark_kept(signs);
    return !sql_failed(signs->store);
}

bool signs_read(struct signs *signs, const char *const *identities, size_t count) {
    struct texts names = {buffer_in(signs->arena), 0};
    for (size_t i = 0; i < count; i++)
        add_text(&names, identities[i]);
    return read_connected(signs, &names, NULL);
}

bool signs_read_of(struct signs *signs, const char *contact_id) {
    const struct texts none = {buffer_in(signs->arena), 0};
    return read_connected(signs, &none, contact_id);
}

/* --- adding --- */

void signs_show(struct signs *signs, const struct contact *who, int64_t at, bool is_new,
                size_t *index) {
    struct sign shown = {.phone = sign_phone(who),
                         .bsuid = sign_bsuid(who),
                         .parent = who->bsuid ? who->parent_bsuid : NULL,
                         .first_at = at,
                         .last_at = at,
                         .is_changed = true,
                         .is_new = is_new};
    if (!*shown.bsuid)
        shown.since = grouping_boundary(&signs->grouping, shown.phone, position_of(at));
    *index = find_row(signs, shown.phone, shown.bsuid, shown.since);
    if (*index == NO_SIGN) {
        *index = signs->grouping.sign_count;
        add_sign(signs, &shown);
        return;
    }
    struct sign *known = &signs->grouping.signs[*index];
    known->is_changed = known->is_changed || at < known->first_at || at > known->last_at ||
                        (shown.parent && !is_set_and_equal(known->parent, shown.parent));
    known->first_at = at < known->first_at ? at : known->first_at;
    known->last_at = at > known->last_at ? at : known->last_at;
    known->parent = shown.parent ? shown.parent : known->parent;
    known->is_new = known->is_new || is_new;
}

/* Divides the sign of the phone alone at the boundary: what was shown after it becomes another
 * sign. */
static void divide(struct signs *signs, const char *phone, int64_t boundary) {
    if (!*phone)
        return;
    const int64_t since = grouping_boundary(&signs->grouping, phone, boundary);
    const size_t index = find_row(signs, phone, "", since);
    if (index == NO_SIGN || since == boundary)
        return;
    struct sign *before = &signs->grouping.signs[index], after = *before;
    if (position_of(before->last_at) < boundary)
        return;
    after.since = boundary;
    after.is_stored = false;
    after.is_changed = true;
    before->is_changed = true;
    if (position_of(before->first_at) >= boundary) {
        before->is_gone = true;
    } else {
        after.is_divided = before->is_divided = true;
        after.first_at = (boundary + 1) / 2;
        before->last_at = (boundary - 1) / 2;
    }
    add_sign(signs, &after);
}

/* Whether both identities before, or after, a change may be of one person. */
static bool is_overlap(const char *phone, const char *bsuid, const char *other_phone,
                       const char *other_bsuid) {
    return (*phone && strcmp(phone, other_phone) == 0) ||
           (*bsuid && strcmp(bsuid, other_bsuid) == 0);
}

/* When the operator refused the change, which the platform reports in another form; 0: it was not
 * refused. */
static int64_t refused_before(const struct signs *signs, const struct change_sign *change) {
    for (size_t i = 0; i < signs->grouping.change_count; i++) {
        const struct change_sign *c = &signs->grouping.changes[i];
        if (c->refused_at && c->at == change->at &&
            is_overlap(c->old_phone, c->old_bsuid, change->old_phone, change->old_bsuid) &&
            is_overlap(c->new_phone, c->new_bsuid, change->new_phone, change->new_bsuid))
            return c->refused_at;
    }
    return 0;
}

void signs_add_change(struct signs *signs, const struct change_sign *change, bool *is_known) {
    *is_known = has_change(signs, change);
    if (*is_known)
        return;
    if (strcmp(change->old_phone, change->new_phone) != 0) {
        divide(signs, change->old_phone, position_of(change->at) + 1);
        divide(signs, change->new_phone, position_of(change->at));
    }
    struct change_sign added = *change;
    added.refused_at = refused_before(signs, change);
    add_change(signs, &added);
}

/* --- writing --- */

static bool write_sign(struct signs *signs, const struct sign *sign) {
    static struct statement upsert = {
        .sql = "INSERT INTO contact_sign (account_id, phone, bsuid, since, parent_bsuid, "
               "contact_id, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
               "ON CONFLICT (account_id, phone, bsuid, since) DO UPDATE SET parent_bsuid = "
               "excluded.parent_bsuid, contact_id = excluded.contact_id, first_at = "
               "excluded.first_at, last_at = excluded.last_at"};
    static struct statement remove = {
        .sql = "DELETE FROM contact_sign WHERE account_id = ?1 AND phone = ?2 AND bsuid = ?3 "
               "AND since = ?4"};
    const struct parameter parameters[] = {TEXT(signs->account_id), TEXT(sign->phone),
                                           TEXT(sign->bsuid),       INTEGER(sign->since),
                                           TEXT(sign->parent),      TEXT(sign->contact_id),
                                           INTEGER(sign->first_at), INTEGER(sign->last_at)};
    return sign->is_gone ? sql_run_later_with(signs->store, &remove, parameters, 4)
                         : sql_run_later_with(signs->store, &upsert, parameters, 8);
}

static bool write_change(struct signs *signs, const struct change_sign *change) {
    static struct statement s = {
        .sql = "INSERT INTO identity_change (account_id, at, old_phone, old_bsuid, new_phone, "
               "new_bsuid, refused_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
               "ON CONFLICT (account_id, old_phone, old_bsuid, new_phone, new_bsuid, at) "
               "DO UPDATE SET refused_at = excluded.refused_at"};
    return sql_run_later(signs->store, &s, TEXT(signs->account_id), INTEGER(change->at),
                         TEXT(change->old_phone), TEXT(change->old_bsuid), TEXT(change->new_phone),
                         TEXT(change->new_bsuid),
                         change->refused_at ? INTEGER(change->refused_at) : NO_INTEGER);
}

bool signs_write(struct signs *signs) {
    const struct grouping *g = &signs->grouping;
    for (size_t i = 0; i < g->sign_count; i++) {
        const struct sign *sign = &g->signs[i];
        if (!sign->is_blank && sign->is_changed && (!sign->is_gone || sign->is_stored) &&
            !write_sign(signs, sign))
            return false;
    }
    for (size_t i = 0; i < g->change_count; i++)
        if (g->changes[i].is_changed && !write_change(signs, &g->changes[i]))
            return false;
    return true;
}

bool sign_extend(struct store *store, const char *account_id, const struct sign *sign, int64_t at) {
    static struct statement s = {
        .sql = "UPDATE contact_sign SET last_at = ?5 WHERE account_id = ?1 AND phone = ?2 "
               "AND bsuid = ?3 AND since = ?4 AND last_at < ?5"};
    return sql_run_later(store, &s, TEXT(account_id), TEXT(sign->phone), TEXT(sign->bsuid),
                         INTEGER(sign->since), INTEGER(at));
}
