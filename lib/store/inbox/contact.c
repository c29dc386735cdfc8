/* The table contact: reading and writing its rows. */
#include "store/contact.h"

#include "engine/row.h"
#include "store/inbox/contact_term.h"

#define OF(member)                              ROW_MEMBER(struct contact, member)
#define OF_PROFILE(number, column, json, title) , OF(column)
const struct row_layout contact_layout =
    ROW_LAYOUT(struct contact, OF(id), OF(account_id), OF(phone), OF(bsuid), OF(parent_bsuid),
               OF(created_at), OF(updated_at) CONTACT_PROFILE(OF_PROFILE));

/* --- writing --- */

#define NAME(number, column, json, title)      ", " #column
#define VALUE(number, column, json, title)     ", ?" #number
#define SET(number, column, json, title)       ", " #column " = ?" #number
#define PARAMETER(number, column, json, title) , TEXT(c->column)

/* Runs a statement that writes a contact, whose parameters are in this order. */
static bool run(struct store *store, struct statement *s, const struct contact *c,
                int64_t updated_at) {
    return sql_run_later(store, s, TEXT(c->id), TEXT(c->account_id), TEXT(c->phone), TEXT(c->bsuid),
                         TEXT(c->parent_bsuid), INTEGER(updated_at) CONTACT_PROFILE(PARAMETER));
}

/* What a contact is found by. */
#define TERMS_OF(c)                                                                                \
    (c)->account_id, (c)->id, (const char *const[]){(c)->phone, (c)->username, (c)->name}, 3

bool contact_insert(struct store *store, const struct contact *c) {
    static struct statement s = {
        .sql = "INSERT INTO contact (id, account_id, phone, bsuid, parent_bsuid, created_at, "
               "updated_at" CONTACT_PROFILE(NAME) ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
                                                  "?6" CONTACT_PROFILE(VALUE) ")"};
    return run(store, &s, c, c->created_at) && contact_term_insert(store, TERMS_OF(c));
}

bool contact_update(struct store *store, const struct contact *c, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE contact SET phone = ?3, bsuid = ?4, parent_bsuid = ?5, "
               "updated_at = ?6" CONTACT_PROFILE(SET) " WHERE id = ?1 AND account_id = ?2"};
    return run(store, &s, c, now) && contact_term_replace(store, TERMS_OF(c));
}

void contact_set_profile(struct contact *contact, const struct contact *first,
                         const struct contact *second) {
#define CHOOSE(number, column, json, title)                                                        \
    contact->column = first->column ? first->column : second->column;
    CONTACT_PROFILE(CHOOSE)
#undef CHOOSE
}

bool contact_has_profile_of(const struct contact *a, const struct contact *b) {
#define IS_EQUAL(number, column, json, title) is_equal_or_both_null(a->column, b->column) &&
    return CONTACT_PROFILE(IS_EQUAL) true;
#undef IS_EQUAL
}

/* --- one contact --- */

/* Reads the contact, of the user or with user_id NULL of any user. False: there is none, or on
 * failure. */
static bool find(struct store *store, struct arena *arena, const char *user_id, const char *id,
                 struct contact *contact) {
    static struct statement s = {.sql = "SELECT " CONTACT_COLUMNS
                                        " FROM contact c JOIN account a ON a.id = c.account_id "
                                        "WHERE c.id = ?1 AND (a.user_id = ?2 OR ?2 IS NULL)"};
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    return row_find(store, &s, arena, &contact_layout, contact);
}

bool contact_read(struct store *store, struct arena *arena, const char *id,
                  struct contact *contact) {
    static struct statement s = {.sql =
                                     "SELECT " CONTACT_COLUMNS " FROM contact c WHERE c.id = ?1"};
    *contact = (struct contact){0};
    sql_start(store, &s, TEXT(id));
    return row_find(store, &s, arena, &contact_layout, contact) || !sql_failed(store);
}

static bool find_remaining(struct store *store, const char *id, char remaining[ID_SIZE]) {
    static struct statement s = {
        .sql = "SELECT contact_id FROM contact_merge WHERE merged_id = ?1 LIMIT 1"};
    sql_start(store, &s, TEXT(id));
    return sql_read_id(store, &s, remaining);
}

bool contact_find_of_user(struct store *store, struct arena *arena, const char *user_id,
                          const char *id, struct contact *contact) {
    char remaining[ID_SIZE];
    return find(store, arena, user_id, id, contact) ||
           (find_remaining(store, id, remaining) &&
            find(store, arena, user_id, remaining, contact));
}

bool contact_is_in_view(struct store *store, const struct store_view *view, const char *id) {
    static struct statement s = {
        .sql = "SELECT t.id FROM thread t WHERE t.contact_id = ?1 AND " IN_VIEW(
            "?2", "t.line_id", "?3", "t.assignee_id") " LIMIT 1"};
    if (view_is_whole(view))
        return true;
    sql_start(store, &s, TEXT(id), TEXT(view->line_ids), TEXT(view->own_id));
    return row_exists(store, &s);
}

enum store_result store_find_contact(struct store *store, struct arena *arena,
                                     const struct store_view *view, const char *id,
                                     struct contact *contact) {
    const bool found = contact_find_of_user(store, arena, view->user_id, id, contact);
    return sql_found(store, found && contact_is_in_view(store, view, contact->id));
}

/* --- lists --- */

#define CONTACTS(condition, order)                                                                 \
    {                                                                                              \
        .sql = "SELECT " CONTACT_COLUMNS " FROM contact c WHERE " condition " ORDER BY c.id" order \
               " LIMIT ?1"                                                                         \
    }

enum store_result store_list_contacts(struct store *store, struct arena *arena,
                                      const struct contact_filter *filter,
                                      struct contact **contacts, size_t *count) {
    static struct statement of_all = CONTACTS("c.id > ?2", "");
    static struct statement oldest = CONTACTS("c.account_id = ?3 AND c.id > ?2", "");
    static struct statement newest = CONTACTS("c.account_id = ?3 AND c.id < ?2", " DESC");
    static struct statement of_view = CONTACTS(
        "c.account_id = ?3 AND c.id < ?2 AND EXISTS (SELECT 1 FROM thread t "
        "WHERE t.contact_id = c.id AND " IN_VIEW("?4", "t.line_id", "?5", "t.assignee_id") ")",
        " DESC");
    const struct store_view *view = filter->view ? filter->view : WHOLE_VIEW(NULL);
    const bool is_part = !view_is_whole(view);
    struct statement *s = is_part                   ? &of_view
                          : !filter->account_id     ? &of_all
                          : filter->is_newest_first ? &newest
                                                    : &oldest;
    /* U+007F sorts after all ids */
    const char *start = s == &newest || is_part ? "\x7f" : "";
    const struct parameter parameters[] = {
        INTEGER((int64_t)filter->limit), TEXT(filter->after ? filter->after : start),
        TEXT(filter->account_id), TEXT(view->line_ids), TEXT(view->own_id)};
    sql_start_with(store, s, parameters, is_part ? 5 : filter->account_id ? 3 : 2);
    *contacts = row_list(store, s, arena, &contact_layout, count);
    return sql_result(store);
}

enum store_result store_list_blocks(struct store *store, struct arena *arena,
                                    const struct store_view *view, const char *contact_id,
                                    struct contact_block **blocks, size_t *count) {
    static struct statement s = {
        .sql = "SELECT line_id, created_at FROM contact_block WHERE contact_id = ?1 "
               "ORDER BY line_id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(contact_id));
    while (sql_row(store, &s)) {
        const struct contact_block block = {column_text(&s, 0, arena), column_integer(&s, 1)};
        if (view_has_line(view, block.line_id))
            buffer_add(&rows, &block, sizeof block);
    }
    *blocks = buffer_array(&rows, sizeof **blocks, count);
    return sql_result(store);
}

#define OF_THREAD(member) ROW_MEMBER(struct contact_thread, member)
static const struct row_layout thread_layout =
    ROW_LAYOUT(struct contact_thread, OF_THREAD(id), OF_THREAD(line_id), OF_THREAD(phone_number_id),
               OF_THREAD(last_message_at));

enum store_result store_list_contact_threads(struct store *store, struct arena *arena,
                                             const struct store_view *view, const char *contact_id,
                                             struct contact_thread **threads, size_t *count) {
    static struct statement s = {
        .sql = "SELECT t.id, t.line_id, l.phone_number_id, t.last_message_at FROM thread t "
               "JOIN line l ON l.id = t.line_id WHERE t.contact_id = ?1 ORDER BY t.id"};
    static struct statement of_view = {
        .sql = "SELECT t.id, t.line_id, l.phone_number_id, t.last_message_at FROM thread t "
               "JOIN line l ON l.id = t.line_id WHERE t.contact_id = ?1 AND " IN_VIEW(
                   "?2", "t.line_id", "?3", "t.assignee_id") " ORDER BY t.id"};
    const struct parameter parameters[] = {TEXT(contact_id), TEXT(view->line_ids),
                                           TEXT(view->own_id)};
    const bool is_whole = view_is_whole(view);
    struct statement *wanted = is_whole ? &s : &of_view;
    sql_start_with(store, wanted, parameters, is_whole ? 1 : 3);
    *threads = row_list(store, wanted, arena, &thread_layout, count);
    return sql_result(store);
}
