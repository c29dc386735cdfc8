#include "store/member.h"

#include <string.h>

#include "engine/row.h"
#include "store/assignment.h"
#include "store/deed.h"

/* --- lists --- */

#define OF(member) ROW_MEMBER(struct store_member, member)
static const struct row_layout member_layout =
    ROW_LAYOUT(struct store_member, OF(id), OF(email), OF(name), OF(created_at), OF(created_by),
               OF(has_factor), OF(line_ids), OF(is_own_only));

enum store_result store_list_members(struct store *store, struct arena *arena, const char *user_id,
                                     struct store_member **members, size_t *count) {
    static struct statement s = {
        .sql = "SELECT m.id, m.email, m.name, ms.created_at, ms.created_by, EXISTS "
               "(SELECT 1 FROM factor WHERE member_id = m.id AND confirmed_at IS NOT NULL), "
               "ms.line_ids, ms.own_threads, ms.role "
               "FROM membership ms JOIN member m ON m.id = ms.member_id WHERE ms.user_id = ?1 "
               "ORDER BY ms.created_at, m.id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(user_id));
    while (sql_row(store, &s)) {
        struct store_member member = {.role = role_find(column_text(&s, 8, arena))};
        row_read(&s, 0, arena, &member_layout, &member);
        buffer_add(&rows, &member, sizeof member);
    }
    *members = buffer_array(&rows, sizeof **members, count);
    return sql_result(store);
}

enum store_result store_list_workspaces(struct store *store, struct arena *arena,
                                        const char *member_id, struct store_workspace **workspaces,
                                        size_t *count) {
    static struct statement s = {
        .sql = "SELECT u.id, u.email, ms.role FROM membership ms JOIN \"user\" u "
               "ON u.id = ms.user_id WHERE ms.member_id = ?1 ORDER BY ms.created_at, ms.user_id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(member_id));
    while (sql_row(store, &s)) {
        const struct store_workspace workspace = {
            .id = column_text(&s, 0, arena),
            .email = column_text(&s, 1, arena),
            .role = role_find(column_text(&s, 2, arena)),
        };
        buffer_add(&rows, &workspace, sizeof workspace);
    }
    *workspaces = buffer_array(&rows, sizeof **workspaces, count);
    return sql_result(store);
}

/* --- rows --- */

static bool find_member(struct store *store, const char *email, char id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT id FROM member WHERE email = ?1"};
    sql_start(store, &s, TEXT(email));
    return sql_read_id(store, &s, id);
}

enum store_result store_find_member(struct store *store, const char *email, char id[ID_SIZE]) {
    return sql_found(store, find_member(store, email, id));
}

bool member_workspace_exists(struct store *store, const char *user_id) {
    static struct statement s = {
        .sql = "SELECT id FROM \"user\" WHERE id = ?1 AND deleted_at IS NULL"};
    sql_start(store, &s, TEXT(user_id));
    return row_exists(store, &s);
}

enum role member_role(struct store *store, const char *user_id, const char *member_id) {
    static struct statement s = {
        .sql = "SELECT role FROM membership WHERE user_id = ?1 AND member_id = ?2"};
    char name[ID_SIZE];
    sql_start(store, &s, TEXT(user_id), TEXT(member_id));
    return sql_read_id(store, &s, name) ? role_find(name) : ROLE_NONE;
}

struct standing member_standing(struct store *store, struct arena *arena, const char *user_id,
                                const char *member_id) {
    static struct statement s = {
        .sql = "SELECT role, line_ids, own_threads FROM membership WHERE user_id = ?1 "
               "AND member_id = ?2"};
    struct standing found = {.role = ROLE_NONE};
    if (!member_id)
        return (struct standing){.role = ROLE_OWNER};
    sql_start(store, &s, TEXT(user_id), TEXT(member_id));
    if (!sql_row(store, &s))
        return found;
    found = (struct standing){role_find(column_text(&s, 0, arena)), column_text(&s, 1, arena),
                              column_integer(&s, 2) != 0};
    sql_stop(&s);
    return found;
}

bool member_workspace(struct store *store, const char *member_id, char user_id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT user_id FROM membership WHERE member_id = ?1 "
                                        "ORDER BY created_at, user_id LIMIT 1"};
    sql_start(store, &s, TEXT(member_id));
    return sql_read_id(store, &s, user_id);
}

bool member_lock(struct store *store, const char *user_id, const char *email, char id[ID_SIZE]) {
    char found[ID_SIZE] = "";
    if (!find_member(store, email, found) && sql_failed(store))
        return false;
    sql_lock(store, LOCK_USER, NULL, (const char *[]){user_id, found}, *found ? 2 : 1);
    if (!find_member(store, email, id))
        *id = '\0';
    if (strcmp(found, id) != 0)
        sql_lock(store, LOCK_USER, NULL, (const char *[]){id}, 1);
    return !sql_failed(store);
}

/* Inserts the member, unless there is one with this id. */
static bool insert_member(struct store *store, const struct store_new_member *member) {
    static struct statement s = {.sql =
                                     "INSERT INTO member (id, email, name, password, created_at) "
                                     "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO NOTHING"};
    return sql_run(store, &s, TEXT(member->id), TEXT(member->email), TEXT(member->name),
                   TEXT(member->password), INTEGER(member->now));
}

/* Whether the workspace has room for one more member than the one with this id, which a repetition
 * finds there. */
static bool has_room(struct store *store, const struct store_new_member *member) {
    static struct statement s = {
        .sql = "SELECT count(*) FROM membership WHERE user_id = ?1 AND member_id <> ?2"};
    sql_start(store, &s, TEXT(member->user_id), TEXT(member->id));
    return row_integer(store, &s, MEMBERS_MAX) < MEMBERS_MAX;
}

bool member_enter(struct store *store, const struct store_new_member *member, bool is_known,
                  enum member_refusal *refusal) {
    static struct statement s = {
        .sql = "INSERT INTO membership (user_id, member_id, role, created_at, created_by, "
               "line_ids, own_threads) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
               "ON CONFLICT (user_id, member_id) DO NOTHING"};
    if (!has_room(store, member)) {
        *refusal = MEMBER_TOO_MANY;
        return false;
    }
    return (is_known || insert_member(store, member)) &&
           sql_run(store, &s, TEXT(member->user_id), TEXT(member->id),
                   TEXT(role_name(member->role)), INTEGER(member->now), TEXT(member->created_by),
                   TEXT(member->line_ids), INTEGER(member->is_own_only));
}

/* --- changes --- */

static bool end_invitation_of(struct store *store, const char *user_id, const char *email) {
    static struct statement s = {.sql = "DELETE FROM invitation WHERE user_id = ?1 AND email = ?2"};
    return sql_run(store, &s, TEXT(user_id), TEXT(email));
}

enum store_result store_add_member(struct store *store, const struct store_new_member *member,
                                   enum member_refusal *refusal) {
    struct store_new_member entering;
    char id[ID_SIZE];
    bool found = false, is_new = false;
    while (sql_transact(store)) {
        const bool may_be_done = is_new && sql_may_have_committed(store);
        *refusal = MEMBER_NOT_REFUSED;
        entering = *member;
        if (!member_lock(store, member->user_id, member->email, id) ||
            !(found = member_workspace_exists(store, member->user_id)))
            continue;
        if (*id)
            entering.id = id;
        is_new = member_role(store, entering.user_id, entering.id) == ROLE_NONE || may_be_done;
        if (is_new && member_enter(store, &entering, *id, refusal) &&
            end_invitation_of(store, entering.user_id, entering.email))
            store_trail(store, entering.user_id, entering.id);
    }
    return row_allowed(store, found, is_new);
}

static bool has_other_owner(struct store *store, const char *user_id, const char *member_id) {
    static struct statement s = {.sql = "SELECT member_id FROM membership WHERE user_id = ?1 "
                                        "AND member_id <> ?2 AND role = 'owner' LIMIT 1"};
    sql_start(store, &s, TEXT(user_id), TEXT(member_id));
    return row_exists(store, &s);
}

/* Locks workspace and member, and reads what both members may do: what they may now, because it may
 * have changed since the request was let in. */
static struct standing lock_both(struct store *store, struct arena *arena,
                                 const struct store_member_change *change, struct standing *own) {
    sql_lock(store, LOCK_USER, NULL, (const char *[]){change->user_id, change->member_id}, 2);
    *own = member_standing(store, arena, change->user_id, change->by);
    return member_standing(store, arena, change->user_id, change->member_id);
}

/* A change of what a member may do: of a removal the role that is left is ROLE_NONE. */
struct turn {
    const struct store_member_change *change;
    struct standing own, present, left; /* of who changes; of the member before and after */
};

static void start_removal(struct store *store, struct arena *arena, struct turn *turn) {
    turn->present = lock_both(store, arena, turn->change, &turn->own);
    turn->left = (struct standing){.role = ROLE_NONE, .line_ids = turn->present.line_ids};
}

static void start_change(struct store *store, struct arena *arena, struct turn *turn) {
    const struct store_member_change *change = turn->change;
    turn->present = lock_both(store, arena, change, &turn->own);
    turn->left = turn->present;
    if (change->role)
        turn->left.role = change->role;
    if (change->sets_lines)
        turn->left.line_ids = change->line_ids;
    if (change->sets_own)
        turn->left.is_own_only = change->is_own_only;
}

static enum member_refusal refusal_of(struct store *store, const struct turn *turn) {
    const struct standing *own = &turn->own, *present = &turn->present, *left = &turn->left;
    if (!role_may_give(own->role, present->role) || !role_may_give(own->role, left->role))
        return MEMBER_ABOVE;
    if (!lines_are_within(present->line_ids, own->line_ids) ||
        !lines_are_within(left->line_ids, own->line_ids))
        return MEMBER_OTHER_LINES;
    if (left->role == ROLE_OWNER && left->line_ids)
        return MEMBER_OWNER_LINES;
    if (left->role >= ROLE_ADMIN && left->is_own_only)
        return MEMBER_ALL_THREADS;
    if (present->role == ROLE_OWNER && left->role != ROLE_OWNER &&
        !has_other_owner(store, turn->change->user_id, turn->change->member_id))
        return MEMBER_LAST_OWNER;
    return MEMBER_NOT_REFUSED;
}

/* Whether the workspace has the member, and whether the change is refused. */
static bool may_change(struct store *store, const struct turn *turn, enum member_refusal *refusal) {
    *refusal = MEMBER_NOT_REFUSED;
    if (turn->present.role == ROLE_NONE)
        return false;
    *refusal = refusal_of(store, turn);
    return !sql_failed(store);
}

/* Ends the member's invitations that it may not make any more. */
static bool end_invitations(struct store *store, struct arena *arena, const struct turn *turn) {
    static struct statement list = {.sql = "SELECT id, role, line_ids FROM invitation "
                                           "WHERE user_id = ?1 AND made_by = ?2"};
    static struct statement end = {.sql = "DELETE FROM invitation WHERE id = ?1"};
    const struct standing *left = &turn->left;
    struct buffer ended = buffer_in(arena);
    sql_start(store, &list, TEXT(turn->change->user_id), TEXT(turn->change->member_id));
    while (sql_row(store, &list)) {
        const char *id = column_text(&list, 0, arena);
        if (!role_may_give(left->role, role_find(column_text(&list, 1, arena))) ||
            !lines_are_within(column_text(&list, 2, arena), left->line_ids))
            buffer_add(&ended, &id, sizeof id);
    }
    const char *const *ids = (const char *const *)(const void *)ended.p;
    bool done = !sql_failed(store);
    for (size_t i = 0; done && i < ended.n / sizeof *ids; i++)
        done = sql_run(store, &end, TEXT(ids[i]));
    return done;
}

/* Ends assignments of threads that the member may not answer any more. `*is_end`: there are no more
 * of them than one transaction ends. */
static bool end_assignments(struct store *store, const struct turn *turn, bool *is_end) {
    const struct standing *left = &turn->left;
    *is_end = true;
    return (left->role >= ROLE_AGENT && !left->line_ids) ||
           assignment_end_some(store, turn->change->user_id, turn->change->member_id,
                               left->role >= ROLE_AGENT ? left->line_ids : "", is_end);
}

static bool write_standing(struct store *store, const struct turn *turn) {
    static struct statement s = {.sql = "UPDATE membership SET role = ?3, line_ids = ?4, "
                                        "own_threads = ?5 WHERE user_id = ?1 AND member_id = ?2"};
    const struct store_member_change *change = turn->change;
    return sql_run(store, &s, TEXT(change->user_id), TEXT(change->member_id),
                   TEXT(role_name(turn->left.role)), TEXT(turn->left.line_ids),
                   INTEGER(turn->left.is_own_only));
}

static bool leave_trail(struct store *store, const struct turn *turn) {
    const struct store_member_change *change = turn->change;
    const struct lines_change lines = {turn->present.line_ids, turn->left.line_ids};
    const struct own_change own = {turn->present.is_own_only, turn->left.is_own_only};
    return store_trail_limits(store, change->user_id, change->member_id,
                              change->sets_lines ? &lines : NULL, change->sets_own ? &own : NULL);
}

/* Changes role and lines, or ends assignments if there are more than one transaction ends:
 * `*is_end` is false then. */
static enum store_result change_member(struct store *store, struct arena *arena, struct turn *turn,
                                       enum member_refusal *refusal, bool *is_end) {
    bool found = false;
    while (sql_transact(store)) {
        *is_end = true;
        start_change(store, arena, turn);
        found = may_change(store, turn, refusal);
        if (found && !*refusal && end_assignments(store, turn, is_end) && *is_end &&
            write_standing(store, turn) && end_invitations(store, arena, turn))
            leave_trail(store, turn);
    }
    return sql_found(store, found);
}

enum store_result store_change_member(struct store *store, struct arena *arena,
                                      const struct store_member_change *change,
                                      enum member_refusal *refusal) {
    struct turn turn = {.change = change};
    enum store_result result;
    bool is_end;
    do
        result = change_member(store, arena, &turn, refusal, &is_end);
    while (result == STORE_OK && !is_end);
    return result;
}

/* Deletes the member, unless it belongs to a workspace. */
static bool end_member(struct store *store, const char *member_id) {
#define IN_NO_WORKSPACE "NOT EXISTS (SELECT 1 FROM membership WHERE member_id = ?1)"
    static struct statement rest[] = {
        {.sql = "DELETE FROM session WHERE member_id = ?1 AND " IN_NO_WORKSPACE},
        {.sql = "DELETE FROM login_link WHERE member_id = ?1 AND " IN_NO_WORKSPACE},
        {.sql = "DELETE FROM login_device WHERE member_id = ?1 AND " IN_NO_WORKSPACE},
        {.sql = "DELETE FROM pending_login WHERE member_id = ?1 AND " IN_NO_WORKSPACE},
        {.sql = "DELETE FROM recovery_code WHERE member_id = ?1 AND " IN_NO_WORKSPACE},
        {.sql = "DELETE FROM factor WHERE member_id = ?1 AND " IN_NO_WORKSPACE},
        {.sql = "DELETE FROM member WHERE id = ?1 AND " IN_NO_WORKSPACE},
    };
    bool done = true;
    for (size_t i = 0; done && i < sizeof rest / sizeof *rest; i++)
        done = sql_run(store, &rest[i], TEXT(member_id));
    return done;
}

static bool end_membership(struct store *store, const char *user_id, const char *member_id) {
    static struct statement ends[] = {
        {.sql = "DELETE FROM membership WHERE user_id = ?1 AND member_id = ?2"},
        {.sql = "DELETE FROM session WHERE user_id = ?1 AND member_id = ?2"},
    };
    return sql_run(store, &ends[0], TEXT(user_id), TEXT(member_id)) &&
           sql_run(store, &ends[1], TEXT(user_id), TEXT(member_id)) && end_member(store, member_id);
}

/* As change_member: the assignments end first, so that a removal that broke off can be repeated. */
static enum store_result remove_member(struct store *store, struct arena *arena, struct turn *turn,
                                       enum member_refusal *refusal, bool *is_end) {
    const struct store_member_change *change = turn->change;
    bool found = false;
    *is_end = false;
    while (sql_transact(store)) {
        const bool may_be_done = found && *is_end && sql_may_have_committed(store);
        *is_end = true;
        start_removal(store, arena, turn);
        found = may_change(store, turn, refusal);
        if (found && !*refusal && end_assignments(store, turn, is_end) && *is_end &&
            end_invitations(store, arena, turn) &&
            store_trail(store, change->user_id, change->member_id))
            end_membership(store, change->user_id, change->member_id);
        found |= may_be_done;
    }
    return sql_found(store, found);
}

enum store_result store_remove_member(struct store *store, struct arena *arena,
                                      const struct store_member_change *change,
                                      enum member_refusal *refusal) {
    struct turn turn = {.change = change};
    enum store_result result;
    bool is_end;
    do
        result = remove_member(store, arena, &turn, refusal, &is_end);
    while (result == STORE_OK && !is_end);
    return result;
}

static bool has_other_workspace(struct store *store, const struct store_member_change *change) {
    static struct statement s = {.sql = "SELECT user_id FROM membership WHERE member_id = ?2 "
                                        "AND user_id <> ?1 LIMIT 1"};
    sql_start(store, &s, TEXT(change->user_id), TEXT(change->member_id));
    return row_exists(store, &s);
}

bool member_may_reset(struct store *store, struct arena *arena,
                      const struct store_member_change *change, enum role least,
                      enum member_refusal *refusal) {
    struct standing own;
    const struct standing present = lock_both(store, arena, change, &own);
    *refusal = !change->by                                         ? MEMBER_NOT_REFUSED
               : own.role < least || present.role >= own.role      ? MEMBER_ABOVE
               : !lines_are_within(present.line_ids, own.line_ids) ? MEMBER_OTHER_LINES
               : has_other_workspace(store, change)                ? MEMBER_ELSEWHERE
                                                                   : MEMBER_NOT_REFUSED;
    return present.role != ROLE_NONE;
}

bool member_set_link(struct store *store, const char *member_id,
                     const unsigned char hash[CRYPTO_HASH_SIZE], int64_t expires_at) {
    static struct statement s = {
        .sql = "INSERT INTO login_link (member_id, hash, expires_at) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (member_id) DO UPDATE SET hash = excluded.hash, "
               "expires_at = excluded.expires_at, used_at = NULL"};
    return sql_run(store, &s, TEXT(member_id), HASH(hash), INTEGER(expires_at));
}

enum store_result store_insert_reset_link(struct store *store, struct arena *arena,
                                          const struct store_member_change *change,
                                          const unsigned char hash[CRYPTO_HASH_SIZE],
                                          int64_t expires_at, enum member_refusal *refusal) {
    bool found = false;
    while (sql_transact(store)) {
        found = member_may_reset(store, arena, change, ROLE_ADMIN, refusal);
        if (found && !*refusal && member_set_link(store, change->member_id, hash, expires_at))
            store_trail(store, change->user_id, change->member_id);
    }
    return sql_found(store, found);
}

bool member_end_all(struct store *store, const char *user_id) {
    static struct statement list = {.sql = "SELECT member_id FROM membership WHERE user_id = ?1"};
    static struct statement invitations = {.sql = "DELETE FROM invitation WHERE user_id = ?1"};
    static char ids[MEMBERS_MAX][ID_SIZE];
    const char *names[MEMBERS_MAX];
    size_t count = 0;
    sql_start(store, &list, TEXT(user_id));
    while (sql_row(store, &list))
        if (count < MEMBERS_MAX && column_id(&list, 0, ids[count])) {
            names[count] = ids[count];
            count++;
        }
    if (count)
        sql_lock(store, LOCK_USER, NULL, names, count);
    bool done = sql_run(store, &invitations, TEXT(user_id));
    for (size_t i = 0; done && i < count; i++)
        done = end_membership(store, user_id, ids[i]);
    return done;
}
