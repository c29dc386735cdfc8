#include "store/assignment.h"

#include "engine/row.h"
#include "store/deed.h"
#include "store/inbox/change.h"
#include "store/inbox/contact_find.h"
#include "store/inbox/thread.h"

enum { THREADS_AT_ONCE = 500 }; /* whose assignments one transaction ends, as retention does */

static const struct row_layout layout =
    ROW_LAYOUT(struct actor, ROW_MEMBER(struct actor, id), ROW_MEMBER(struct actor, name));

/* Reads to whom the thread is assigned; false on failure. */
static bool read_assignee(struct store *store, struct arena *arena, const char *thread_id,
                          struct actor *assignee) {
    static struct statement s = {.sql = "SELECT m.id, m.name FROM thread t JOIN member m "
                                        "ON m.id = t.assignee_id WHERE t.id = ?1"};
    *assignee = (struct actor){0};
    sql_start(store, &s, TEXT(thread_id));
    return row_find(store, &s, arena, &layout, assignee) || !sql_failed(store);
}

static bool write_assignee(struct store *store, const char *user_id, const char *thread_id,
                           const char *member_id) {
    static struct statement s = {
        .sql = "UPDATE thread SET assignee_id = ?2, changed = ?3, assigned_changed = ?3 "
               "WHERE id = ?1"};
    int64_t change;
    return change_next(store, user_id, &change) &&
           sql_run(store, &s, TEXT(thread_id), TEXT(member_id), INTEGER(change));
}

/* Whether the member may answer the thread. */
static bool may_answer(struct store *store, const struct store_assignment *assignment,
                       const char *thread_id) {
    static struct statement s = {
        .sql = "SELECT p.role FROM membership p JOIN thread t ON t.id = ?3 WHERE p.user_id = ?1 "
               "AND p.member_id = ?2 AND p.role <> 'viewer' "
               "AND (p.line_ids IS NULL OR " IS_ONE_OF("t.line_id", "p.line_ids") ")"};
    sql_start(store, &s, TEXT(assignment->view->user_id), TEXT(assignment->member_id),
              TEXT(thread_id));
    return row_exists(store, &s);
}

/* Whether both are the same member, or both none. */
static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static enum assignment_refusal refusal_of(struct store *store,
                                          const struct store_assignment *assignment,
                                          const char *thread_id, const char *present) {
    if (assignment->member_id && !may_answer(store, assignment, thread_id))
        return ASSIGNMENT_NO_MEMBER;
    if (assignment->has_from && !is_same(present, assignment->from) &&
        !is_same(present, assignment->member_id))
        return ASSIGNMENT_TAKEN;
    return ASSIGNMENT_NOT_REFUSED;
}

/* Assigns the thread, which is there. */
static bool assign(struct store *store, struct arena *arena,
                   const struct store_assignment *assignment, const char *thread_id,
                   struct actor *assignee, enum assignment_refusal *refusal) {
    const char *user_id = assignment->view->user_id, *member_id = assignment->member_id;
    if (!read_assignee(store, arena, thread_id, assignee))
        return false;
    *refusal = refusal_of(store, assignment, thread_id, assignee->id);
    if (*refusal)
        return true;
    return (is_same(assignee->id, member_id) ||
            write_assignee(store, user_id, thread_id, member_id)) &&
           read_assignee(store, arena, thread_id, assignee) &&
           store_trail_to(store, user_id, thread_id, assignee);
}

enum store_result store_assign(struct store *store, struct arena *arena,
                               const struct store_assignment *assignment, struct actor *assignee,
                               enum assignment_refusal *refusal) {
    struct thread_found thread;
    bool found = false;
    while (sql_transact(store)) {
        /* a member who hands a thread on does not see it any more */
        const bool may_be_done = found && sql_may_have_committed(store);
        if (assignment->member_id) /* the member may be removed at the same time */
            sql_lock(store, LOCK_USER, NULL, &assignment->member_id, 1);
        sql_lock(store, LOCK_COUNTERS, NULL, &assignment->view->user_id, 1);
        found = thread_find(store, assignment->view, assignment->thread_id, &thread);
        if (found)
            assign(store, arena, assignment, thread.id, assignee, refusal);
        found |= may_be_done;
    }
    return sql_found(store, found);
}

/* Whether the thread of the contact that the identity leads to is another member's. */
static bool is_of_colleague(struct store *store, const struct store_addressee *to,
                            const char *identity) {
    static struct statement s = {.sql = "SELECT id FROM thread WHERE line_id = ?1 AND contact_id = "
                                        "(" CONTACT_ID_OF("?2", "?3") ") AND assignee_id <> ?4"};
    if (!identity)
        return false;
    sql_start(store, &s, TEXT(to->line_id), TEXT(to->account_id), TEXT(identity),
              TEXT(to->view->own_id));
    return row_exists(store, &s);
}

bool assignment_is_of_colleague(struct store *store, const struct store_addressee *to) {
    return to->view->own_id &&
           (is_of_colleague(store, to, to->phone) || is_of_colleague(store, to, to->bsuid));
}

enum store_result store_is_of_colleague(struct store *store, const struct store_addressee *to,
                                        bool *is_so) {
    *is_so = assignment_is_of_colleague(store, to);
    return sql_result(store);
}

enum store_result store_is_message_of_colleague(struct store *store, const struct store_view *view,
                                                const char *line_id, const char *wamid,
                                                bool *is_so) {
    static struct statement s = {.sql = "SELECT t.id FROM message m JOIN thread t ON t.id = "
                                        "m.thread_id WHERE m.line_id = ?1 AND m.wamid = ?2 "
                                        "AND t.assignee_id <> ?3"};
    *is_so = false;
    if (view->own_id && wamid) {
        sql_start(store, &s, TEXT(line_id), TEXT(wamid), TEXT(view->own_id));
        *is_so = row_exists(store, &s);
    }
    return sql_result(store);
}

bool assignment_end_some(struct store *store, const char *user_id, const char *member_id,
                         const char *line_ids, bool *is_end) {
    static struct statement s = {
        .sql = "SELECT id FROM thread WHERE user_id = ?1 AND assignee_id = ?2 "
               "AND NOT (" IS_ONE_OF("line_id", "?4") ") ORDER BY last_message_at, id LIMIT ?3"};
    static char ids[THREADS_AT_ONCE][ID_SIZE];
    size_t count = 0;
    sql_start(store, &s, TEXT(user_id), TEXT(member_id), INTEGER(THREADS_AT_ONCE), TEXT(line_ids));
    while (sql_row(store, &s))
        if (column_id(&s, 0, ids[count]))
            count++;
    *is_end = count < THREADS_AT_ONCE;
    for (size_t i = 0; i < count; i++)
        if (!write_assignee(store, user_id, ids[i], NULL))
            return false;
    return !sql_failed(store);
}
