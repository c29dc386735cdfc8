#include "store/ingest/merge.h"

#include "store/inbox/change.h"
#include "store/inbox/contact_term.h"
#include "store/inbox/thread.h"

bool merge_insert(const struct merge *m, const struct contact *before, const char *merged_id,
                  const char *contact_id, const char *reason) {
    static struct statement s = {
        .sql = "INSERT INTO contact_merge (id, account_id, contact_id, merged_id, reason, phone, "
               "bsuid, parent_bsuid, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"};
    char id[ID_SIZE];
    id_make(id, "mrg_", m->now);
    return sql_run_later(m->store, &s, TEXT(id), TEXT(m->account_id), TEXT(contact_id),
                         TEXT(merged_id), TEXT(reason), TEXT(before->phone), TEXT(before->bsuid),
                         TEXT(before->parent_bsuid), INTEGER(m->now));
}

/* The threads of the contact `from` (?1) on lines where the contact `to` (?2) has a thread too. */
#define DOUBLE_THREADS                                                                             \
    "(SELECT f.id FROM thread f JOIN thread t ON t.line_id = f.line_id AND t.contact_id = ?2 "     \
    " WHERE f.contact_id = ?1)"

/* Gives the claim of the thread that is deleted to the other one, which may have one itself: then
 * the columns of the later one, which follow. */
#define UNITED_CLAIMS                                                                              \
    "INSERT INTO thread_claim (thread_id, user_id, member_id, member_name, request_id, "           \
    "claimed_until, answered_by, answered_name, answered) "                                        \
    "SELECT t.id, c.user_id, c.member_id, c.member_name, c.request_id, c.claimed_until, "          \
    "c.answered_by, c.answered_name, c.answered "                                                  \
    "FROM thread f JOIN thread t ON t.line_id = f.line_id AND t.contact_id = ?2 "                  \
    "JOIN thread_claim c ON c.thread_id = f.id WHERE f.contact_id = ?1 "                           \
    "ON CONFLICT (thread_id) DO UPDATE SET "

/* Takes a number of a change for the user of the account. */
static bool take_change(const struct merge *m, int64_t *change) {
    static struct statement s = {.sql = "SELECT user_id FROM account WHERE id = ?1"};
    char user_id[ID_SIZE];
    sql_start(m->store, &s, TEXT(m->account_id));
    return sql_read_id(m->store, &s, user_id) && change_next(m->store, user_id, change);
}

/* Moves the messages of double threads. All get one number of a change. The threads get it as that
 * of their assignee, because a member may have seen one of the two and not see the other. */
static bool move_messages(const struct merge *m, const char *from, const char *to) {
    static struct statement s = {
        .sql = "UPDATE message SET changed = ?3, thread_id = (SELECT t.id FROM thread t "
               "  WHERE t.contact_id = ?2 AND t.line_id = message.line_id) "
               "WHERE thread_id IN " DOUBLE_THREADS};
    static struct statement assigned = {
        .sql = "UPDATE thread SET assigned_changed = ?3 WHERE contact_id = ?2 AND EXISTS "
               "(SELECT 1 FROM thread f WHERE f.line_id = thread.line_id AND f.contact_id = ?1)"};
    int64_t change;
    return take_change(m, &change) &&
           sql_run_later(m->store, &s, TEXT(from), TEXT(to), INTEGER(change)) &&
           sql_run_later(m->store, &assigned, TEXT(from), TEXT(to), INTEGER(change));
}

/* Moves all rows of the contact `from` to the contact `to` and deletes `from`. Two threads of one
 * line are merged; the id of the one that is deleted becomes an alias of the other. */
static bool move_rows(struct store *store, const char *from, const char *to) {
    static struct statement steps[] = {
        {.sql = "UPDATE thread_alias SET thread_id = (SELECT t.id FROM thread f JOIN thread t "
                "  ON t.line_id = f.line_id AND t.contact_id = ?2 "
                "  WHERE f.id = thread_alias.thread_id) WHERE thread_id IN " DOUBLE_THREADS},
        {.sql = "INSERT INTO thread_alias (id, user_id, thread_id, contact_id) "
                "SELECT f.id, f.user_id, t.id, ?1 FROM thread f JOIN thread t "
                "ON t.line_id = f.line_id AND t.contact_id = ?2 WHERE f.contact_id = ?1"},
        {.sql = "UPDATE thread SET last_message_at = (SELECT max(u.last_message_at) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)), "
                "last_inbound_at = (SELECT max(u.last_inbound_at) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)), "
                "unread = (SELECT CAST(coalesce(sum(unread), 0) AS BIGINT) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)), "
                "done_at = (SELECT max(u.done_at) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)), "
                "notes_changed = (SELECT max(u.notes_changed) FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id IN (?1, ?2)), "
                "assignee_id = coalesce(assignee_id, (SELECT u.assignee_id FROM thread u "
                "  WHERE u.line_id = thread.line_id AND u.contact_id = ?1)) "
                "WHERE contact_id = ?2"},
        {.sql = "UPDATE note SET thread_id = (SELECT t.id FROM thread f JOIN thread t "
                "  ON t.line_id = f.line_id AND t.contact_id = ?2 WHERE f.id = note.thread_id) "
                "WHERE thread_id IN " DOUBLE_THREADS},
        {.sql = UNITED_CLAIMS "answered_by = excluded.answered_by, "
                              "answered_name = excluded.answered_name, "
                              "answered = excluded.answered "
                              "WHERE excluded.answered > thread_claim.answered"},
        {.sql = UNITED_CLAIMS "member_id = excluded.member_id, "
                              "member_name = excluded.member_name, "
                              "request_id = excluded.request_id, "
                              "claimed_until = excluded.claimed_until "
                              "WHERE excluded.claimed_until > thread_claim.claimed_until"},
        {.sql = "DELETE FROM thread_claim WHERE thread_id IN " DOUBLE_THREADS},
        {.sql = "DELETE FROM thread WHERE contact_id = ?1 AND line_id IN "
                "(SELECT t.line_id FROM thread t WHERE t.contact_id = ?2)"},
        {.sql = "UPDATE thread SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "INSERT INTO contact_block (user_id, line_id, contact_id, created_at, identity) "
                "SELECT user_id, line_id, ?2, created_at, identity "
                "FROM contact_block WHERE contact_id = ?1 "
                "ON CONFLICT (line_id, contact_id) DO UPDATE SET identity = ''"},
        {.sql = "INSERT INTO lead (user_id, contact_id, source, created_at) "
                "SELECT user_id, ?2, source, created_at FROM lead WHERE contact_id = ?1 "
                "ON CONFLICT (contact_id, source) DO NOTHING"},
        {.sql = "UPDATE contact SET held_at = coalesce(held_at, (SELECT f.held_at FROM contact f "
                "WHERE f.id = ?1)) WHERE id = ?2"},
        {.sql = "UPDATE contact_alias SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "UPDATE contact_merge SET contact_id = ?2 WHERE contact_id = ?1"},
        {.sql = "UPDATE contact_sign SET contact_id = ?2 WHERE contact_id = ?1"},
        /* finished ones keep the old id: a replay looks up the contact that remained */
        {.sql = "UPDATE delivery SET order_key = ?2 WHERE order_key = ?1 AND state = 'pending'"},
        {.sql = "DELETE FROM contact_block WHERE contact_id = ?1 AND ?2 <> ''"},
        {.sql = "DELETE FROM lead WHERE contact_id = ?1 AND ?2 <> ''"},
        {.sql = "DELETE FROM contact_term WHERE contact_id = ?1 AND ?2 <> ''"},
        {.sql = "DELETE FROM contact WHERE id = ?1 AND ?2 <> ''"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!sql_run_later(store, &steps[i], TEXT(from), TEXT(to)))
            return false;
    return true;
}

bool merge_contacts(const struct merge *m, const struct contact *gone, const char *kept) {
    return thread_write_changes(m->store) && move_messages(m, gone->id, kept) &&
           move_rows(m->store, gone->id, kept) && change_contact(m->store, m->arena, kept) &&
           merge_insert(m, gone, gone->id, kept, m->reason);
}
