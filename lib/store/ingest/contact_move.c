#include "store/ingest/contact_move.h"

#include <stdio.h>

#include "store/inbox/change.h"
#include "store/inbox/contact_term.h"
#include "store/inbox/thread.h"

/* --- all of a contact --- */

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
static bool move_double_messages(const struct merge *m, const char *from, const char *to) {
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
static bool move_all_rows(struct store *store, const char *from, const char *to) {
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
    return thread_write_changes(m->store) && move_double_messages(m, gone->id, kept) &&
           move_all_rows(m->store, gone->id, kept) && change_contact(m->store, m->arena, kept) &&
           merge_insert(m, gone, gone->id, kept, m->reason);
}

/* --- some of its messages --- */

/* A thread whose messages are moved, and the one that gets them. */
struct move {
    char from[ID_SIZE], to[ID_SIZE], line_id[ID_SIZE], user_id[ID_SIZE];
    int64_t change, moved_unread;
};

/* Conditions on the table message; ?1 is the thread. */
#define WITH_BSUID "bsuid = ?2"
#define WITH_PHONE                                                                                 \
    "phone = ?2 AND bsuid IS NULL AND 2 * CASE WHEN source = 'api' "                               \
    "THEN (SELECT min(s.timestamp) FROM message_status s WHERE s.message_id = message.id) "        \
    "ELSE timestamp END BETWEEN ?3 AND ?4"

enum { BY_BSUID, BY_PHONE };

/* Starts one of two statements, whose parameters are the thread and those of the filter. */
static void start(const struct merge *m, struct statement both[2], const struct move *move,
                  const struct message_filter *filter) {
    if (filter->bsuid)
        sql_start(m->store, &both[BY_BSUID], TEXT(move->from), TEXT(filter->bsuid));
    else
        sql_start(m->store, &both[BY_PHONE], TEXT(move->from), TEXT(filter->phone),
                  INTEGER(filter->begin), INTEGER(filter->end - 1));
}

static struct statement *one_of(struct statement both[2], const struct message_filter *filter) {
    return &both[filter->bsuid ? BY_BSUID : BY_PHONE];
}

static bool has_messages(const struct merge *m, const struct move *move,
                         const struct message_filter *filter, bool *has) {
    static struct statement s[2] = {
        {.sql = "SELECT 1 FROM message WHERE thread_id = ?1 AND " WITH_BSUID " LIMIT 1"},
        {.sql = "SELECT 1 FROM message WHERE thread_id = ?1 AND " WITH_PHONE " LIMIT 1"}};
    start(m, s, move, filter);
    *has = row_exists(m->store, one_of(s, filter));
    return !sql_failed(m->store);
}

/* The messages that count as unread, the latest first: the same ones that store_ingest counted. */
#define UNREAD                                                                                     \
    "SELECT count(*) FROM (SELECT id, phone, bsuid, source, timestamp FROM message "               \
    "WHERE thread_id = ?1 AND direction = 'in' AND source = 'webhook' "                            \
    "AND " COUNTS_TYPE(                                                                            \
        "") " ORDER BY timestamp DESC, id DESC "                                                   \
            "LIMIT (SELECT t.unread FROM thread t WHERE t.id = ?1)) AS message WHERE "

static bool count_unread(const struct merge *m, struct move *move,
                         const struct message_filter *filter) {
    static struct statement s[2] = {{.sql = UNREAD WITH_BSUID}, {.sql = UNREAD WITH_PHONE}};
    start(m, s, move, filter);
    move->moved_unread = row_integer(m->store, one_of(s, filter), 0);
    return !sql_failed(m->store);
}

/* Finds the thread of the contact, or inserts one. A thread that was merged gets its id back. */
static bool find_or_insert_thread(const struct merge *m, const char *contact_id,
                                  struct move *move) {
    static struct statement find = {
        .sql = "SELECT t.id FROM thread t WHERE t.contact_id = ?2 AND t.line_id = ?1"};
    static struct statement find_former = {
        .sql = "SELECT id FROM thread_alias WHERE thread_id = ?1 AND contact_id = ?2"};
    static struct statement remove = {.sql = "DELETE FROM thread_alias WHERE id = ?1"};
    static struct statement insert = {
        .sql = "INSERT INTO thread (id, user_id, line_id, contact_id, created_at, "
               "last_message_at) VALUES (?1, ?2, ?3, ?4, ?5, 0)"};
    sql_start(m->store, &find, TEXT(move->line_id), TEXT(contact_id));
    if (sql_read_id(m->store, &find, move->to) || sql_failed(m->store))
        return !sql_failed(m->store);
    id_make(move->to, "thr_", m->now);
    sql_start(m->store, &find_former, TEXT(move->from), TEXT(contact_id));
    if (sql_read_id(m->store, &find_former, move->to) &&
        !sql_run_later(m->store, &remove, TEXT(move->to)))
        return false;
    return !sql_failed(m->store) &&
           sql_run_later(m->store, &insert, TEXT(move->to), TEXT(move->user_id),
                         TEXT(move->line_id), TEXT(contact_id), INTEGER(m->now));
}

/* Moves the messages; they and both threads get a number of a change. */
static bool move_messages(const struct merge *m, struct move *move,
                          const struct message_filter *filter) {
    static struct statement update[2] = {
        {.sql = "UPDATE message SET thread_id = ?3, changed = ?4 WHERE thread_id = ?1 "
                "AND " WITH_BSUID},
        {.sql = "UPDATE message SET thread_id = ?5, changed = ?6 WHERE thread_id = ?1 "
                "AND " WITH_PHONE}};
    static struct statement refresh = {
        .sql = "UPDATE thread SET unread = unread + ?2, changed = ?3, last_message_at = "
               "coalesce((SELECT timestamp FROM message WHERE thread_id = ?1 AND is_campaign = 0 "
               "ORDER BY timestamp DESC LIMIT 1), CASE WHEN EXISTS (SELECT 1 FROM message "
               "WHERE thread_id = ?1) THEN 0 ELSE created_at END), "
               "last_inbound_at = (SELECT max(timestamp) FROM message WHERE thread_id = ?1 "
               "AND direction = 'in') WHERE id = ?1"};
    const bool ok =
        filter->bsuid
            ? sql_run_later(m->store, &update[BY_BSUID], TEXT(move->from), TEXT(filter->bsuid),
                            TEXT(move->to), INTEGER(move->change))
            : sql_run_later(m->store, &update[BY_PHONE], TEXT(move->from), TEXT(filter->phone),
                            INTEGER(filter->begin), INTEGER(filter->end - 1), TEXT(move->to),
                            INTEGER(move->change));
    return ok &&
           sql_run_later(m->store, &refresh, TEXT(move->from), INTEGER(-move->moved_unread),
                         INTEGER(move->change)) &&
           sql_run_later(m->store, &refresh, TEXT(move->to), INTEGER(move->moved_unread),
                         INTEGER(move->change)) &&
           thread_recount(m->store, move->from) && thread_recount(m->store, move->to);
}

/* A contact that wrote before is not a new contact later. */
static bool copy_lead(const struct merge *m, const struct move *move, const char *from,
                      const char *to) {
    static struct statement s = {
        .sql = "INSERT INTO lead (user_id, contact_id, source, created_at) "
               "SELECT user_id, ?2, source, created_at FROM lead WHERE contact_id = ?1 "
               "AND source = 'new_contact' AND EXISTS (SELECT 1 FROM message "
               "  WHERE thread_id = ?3 AND direction = 'in') "
               "ON CONFLICT (contact_id, source) DO NOTHING"};
    return sql_run_later(m->store, &s, TEXT(from), TEXT(to), TEXT(move->to));
}

/* Deletes the thread if it has no messages; its id, and those that lead to it, lead to the other
 * one. */
static bool delete_empty(const struct merge *m, const struct move *move) {
    static struct statement steps[] = {
        {.sql = "UPDATE thread_alias SET thread_id = ?2 WHERE thread_id = ?1 "
                "AND NOT EXISTS (SELECT 1 FROM message WHERE thread_id = ?1)"},
        {.sql = "INSERT INTO thread_alias (id, user_id, thread_id, contact_id) "
                "SELECT id, user_id, ?2, contact_id FROM thread WHERE id = ?1 "
                "AND NOT EXISTS (SELECT 1 FROM message WHERE thread_id = ?1)"},
        {.sql = "UPDATE thread SET notes_changed = changed WHERE id = ?2 "
                "AND NOT EXISTS (SELECT 1 FROM message WHERE thread_id = ?1) "
                "AND EXISTS (SELECT 1 FROM note WHERE thread_id = ?1)"},
        {.sql = "UPDATE note SET thread_id = ?2 WHERE thread_id = ?1 "
                "AND NOT EXISTS (SELECT 1 FROM message WHERE thread_id = ?1)"},
        {.sql = "DELETE FROM thread_claim WHERE thread_id = ?1 AND ?2 <> '' "
                "AND NOT EXISTS (SELECT 1 FROM message WHERE thread_id = ?1)"},
        {.sql = "DELETE FROM thread WHERE id = ?1 AND ?2 <> '' "
                "AND NOT EXISTS (SELECT 1 FROM message WHERE thread_id = ?1)"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!sql_run_later(m->store, &steps[i], TEXT(move->from), TEXT(move->to)))
            return false;
    return true;
}

#define OF(member) ROW_MEMBER(struct move, member)
static const struct row_layout layout = ROW_LAYOUT(struct move, OF(from), OF(line_id), OF(user_id));

/* The threads of the contact; false on failure. */
static bool read_threads(const struct merge *m, const char *contact_id, struct buffer *rows) {
    static struct statement s = {
        .sql = "SELECT id, line_id, user_id FROM thread WHERE contact_id = ?1"};
    *rows = buffer_in(m->arena);
    sql_start(m->store, &s, TEXT(contact_id));
    row_add(m->store, &s, NULL, &layout, rows);
    return !sql_failed(m->store);
}

bool message_exists(const struct merge *m, const char *contact_id,
                    const struct message_filter *filter, bool *exists) {
    struct buffer rows;
    *exists = false;
    if (!read_threads(m, contact_id, &rows))
        return false;
    const struct move *moves = (const struct move *)(const void *)rows.p;
    for (size_t i = 0; !*exists && i < rows.n / sizeof *moves; i++)
        if (!has_messages(m, &moves[i], filter, exists))
            return false;
    return true;
}

/* A read mark has the counters of the user, from which change_next takes a number: no other one
 * changes what is unread after that. */
static bool move_thread(const struct merge *m, const char *from, const char *to, struct move *move,
                        const struct message_filter *filter) {
    bool has;
    if (!has_messages(m, move, filter, &has))
        return false;
    return !has ||
           (change_next(m->store, move->user_id, &move->change) && count_unread(m, move, filter) &&
            find_or_insert_thread(m, to, move) && move_messages(m, move, filter) &&
            copy_lead(m, move, from, to) && delete_empty(m, move));
}

bool message_move(const struct merge *m, const char *from, const char *to,
                  const struct message_filter *filter) {
    struct buffer rows;
    if (!thread_write_changes(m->store) || !read_threads(m, from, &rows))
        return false;
    struct move *moves = (struct move *)(void *)rows.p;
    for (size_t i = 0; i < rows.n / sizeof *moves; i++)
        if (!move_thread(m, from, to, &moves[i], filter))
            return false;
    return true;
}
