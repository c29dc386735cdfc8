#include "store/block.h"

#include "engine/row.h"
#include "store/contact.h"
#include "store/deed.h"
#include "store/inbox/change.h"

/* Finds the contact, and locks it. One that was merged meanwhile leads to the one that remained. */
static bool lock_contact(struct store *store, struct arena *arena, struct store_owner_block *block,
                         struct contact *contact) {
    for (const char *locked = "";
         contact_find_of_user(store, arena, block->view->user_id, block->contact_id, contact);) {
        block->contact_id = contact->id;
        if (strcmp(contact->id, locked) == 0)
            return true;
        locked = contact->id;
        sql_lock(store, LOCK_CONTACT, contact->account_id, &locked, 1);
    }
    return false;
}

/* SQL: the lines of the blocks: those of the view, but not where the thread is a colleague's. */
#define LINES                                                                                      \
    "FROM line l WHERE l.account_id = ?2 AND (l.phone_number_id = ?3 OR ?3 IS NULL) "              \
    "AND " HAS_LINE("?4",                                                                          \
                    "l.id") " AND NOT EXISTS (SELECT 1 FROM thread t "                             \
                            "WHERE t.line_id = l.id AND t.contact_id = ?1 AND NOT " HAS_ASSIGNEE(  \
                                "?5", "t.assignee_id") ")"

/* Whether the view has the line that the block names, or it names none. The parameters are those of
 * write_blocks. */
static bool has_line(struct store *store, const struct store_owner_block *block,
                     const struct parameter parameters[5]) {
    static struct statement s = {.sql = "SELECT l.id " LINES};
    if (!block->phone_number_id)
        return true;
    sql_start_with(store, &s, parameters, 5);
    return row_exists(store, &s);
}

/* Runs the statement, which writes the blocks, in a transaction. Its parameters: the contact, its
 * account, the line, the lines and the member of the view, the user, now. */
static enum store_result write_blocks(struct store *store, struct arena *arena,
                                      struct store_owner_block *block, struct statement *s,
                                      size_t parameter_count) {
    const char *const contact_id = block->contact_id;
    enum store_result found = STORE_OK;
    while (sql_transact(store)) {
        struct contact contact = {0};
        block->contact_id = contact_id;
        found = lock_contact(store, arena, block, &contact) &&
                        contact_is_in_view(store, block->view, contact.id)
                    ? STORE_OK
                    : STORE_NOT_FOUND;
        const struct parameter parameters[] = {
            TEXT(contact.id),
            TEXT(contact.account_id),
            TEXT(block->phone_number_id),
            TEXT(block->view->line_ids),
            TEXT(block->view->own_id),
            TEXT(block->view->user_id),
            INTEGER(block->now),
        };
        if (found == STORE_OK && !has_line(store, block, parameters))
            found = STORE_CONFLICT;
        if (found != STORE_OK)
            continue;
        sql_start_with(store, s, parameters, parameter_count);
        if (!sql_row(store, s) && !sql_failed(store) && sql_changes(store) > 0)
            change_contact(store, arena, contact.id);
        store_trail(store, block->view->user_id, contact.id);
    }
    enum store_result result = sql_result(store);
    return result == STORE_OK ? found : result;
}

enum store_result store_block(struct store *store, struct arena *arena,
                              struct store_owner_block *block) {
    static struct statement s = {
        .sql = "INSERT INTO contact_block (line_id, contact_id, user_id, created_at, identity) "
               "SELECT l.id, ?1, ?6, ?7, (SELECT coalesce(c.bsuid, c.phone) FROM contact c "
               "  WHERE c.id = ?1) " LINES " ON CONFLICT (line_id, contact_id) DO NOTHING"};
    return write_blocks(store, arena, block, &s, 7);
}

enum store_result store_unblock(struct store *store, struct arena *arena,
                                struct store_owner_block *block) {
    static struct statement s = {
        .sql = "DELETE FROM contact_block WHERE contact_id = ?1 AND line_id IN "
               "(SELECT l.id " LINES ")"};
    return write_blocks(store, arena, block, &s, 5);
}
