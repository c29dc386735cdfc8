#include "store/invitation.h"

#include <stdio.h>
#include <string.h>

#include "engine/row.h"
#include "store/deed.h"

/* --- making one --- */

/* Whether the workspace has room for one more invitation than that of the email, which is replaced.
 */
static bool has_room(struct store *store, const struct store_invitation *invitation) {
    static struct statement s = {
        .sql = "SELECT count(*) FROM invitation WHERE user_id = ?1 AND email <> ?2"};
    sql_start(store, &s, TEXT(invitation->user_id), TEXT(invitation->email));
    return row_integer(store, &s, INVITATIONS_MAX) < INVITATIONS_MAX;
}

/* The new invitation has its own id, so that the trail says which one was replaced. */
static bool replace(struct store *store, const struct store_invitation *invitation,
                    const unsigned char *hash) {
    static struct statement end = {
        .sql = "DELETE FROM invitation WHERE user_id = ?1 AND email = ?2 AND id <> ?3"};
    static struct statement add = {
        .sql = "INSERT INTO invitation (id, user_id, hash, email, role, made_by, created_by, "
               "created_at, expires_at, line_ids, own_threads) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) "
               "ON CONFLICT (id) DO NOTHING"};
    return sql_run(store, &end, TEXT(invitation->user_id), TEXT(invitation->email),
                   TEXT(invitation->id)) &&
           sql_run(store, &add, TEXT(invitation->id), TEXT(invitation->user_id), HASH(hash),
                   TEXT(invitation->email), TEXT(role_name(invitation->role)),
                   TEXT(invitation->made_by), TEXT(invitation->created_by),
                   INTEGER(invitation->created_at), INTEGER(invitation->expires_at),
                   TEXT(invitation->line_ids), INTEGER(invitation->is_own_only));
}

/* Why the maker may not give what the invitation says. */
static enum member_refusal refusal_of(struct store *store, struct arena *arena,
                                      const struct store_invitation *invitation) {
    const struct standing own =
        member_standing(store, arena, invitation->user_id, invitation->made_by);
    return !role_may_give(own.role, invitation->role)                  ? MEMBER_ABOVE
           : !lines_are_within(invitation->line_ids, own.line_ids)     ? MEMBER_OTHER_LINES
           : invitation->role >= ROLE_ADMIN && invitation->is_own_only ? MEMBER_ALL_THREADS
           : !has_room(store, invitation)                              ? MEMBER_TOO_MANY
                                                                       : MEMBER_NOT_REFUSED;
}

enum store_result store_insert_invitation(struct store *store, struct arena *arena,
                                          const struct store_invitation *invitation,
                                          const unsigned char hash[CRYPTO_HASH_SIZE],
                                          enum member_refusal *refusal) {
    const char *user_id = invitation->user_id;
    char member_id[ID_SIZE];
    bool found = false, is_member = false;
    while (sql_transact(store)) {
        is_member = false;
        *refusal = MEMBER_NOT_REFUSED;
        found = member_lock(store, user_id, invitation->email, member_id) &&
                member_workspace_exists(store, user_id);
        if (!found)
            continue;
        is_member = member_role(store, user_id, member_id) != ROLE_NONE;
        *refusal = refusal_of(store, arena, invitation);
        if (!*refusal && !is_member && replace(store, invitation, hash))
            store_trail(store, user_id, invitation->id);
    }
    return row_allowed(store, found, *refusal || !is_member);
}

/* --- listing and revoking --- */

#define OF_LISTED(member) ROW_MEMBER(struct store_invitation, member)
static const struct row_layout listed_layout = ROW_LAYOUT(
    struct store_invitation, OF_LISTED(id), OF_LISTED(email), OF_LISTED(created_by),
    OF_LISTED(created_at), OF_LISTED(expires_at), OF_LISTED(line_ids), OF_LISTED(is_own_only));

enum store_result store_list_invitations(struct store *store, struct arena *arena,
                                         const struct store_view *view,
                                         struct store_invitation **invitations, size_t *count) {
    static struct statement s = {
        .sql = "SELECT id, email, created_by, created_at, expires_at, line_ids, own_threads, role "
               "FROM invitation WHERE user_id = ?1 ORDER BY id"};
    struct buffer rows = buffer_in(arena);
    sql_start(store, &s, TEXT(view->user_id));
    while (sql_row(store, &s)) {
        struct store_invitation invitation = {.user_id = view->user_id,
                                              .role = role_find(column_text(&s, 7, arena))};
        row_read(&s, 0, arena, &listed_layout, &invitation);
        if (lines_are_within(invitation.line_ids, view->line_ids))
            buffer_add(&rows, &invitation, sizeof invitation);
    }
    *invitations = buffer_array(&rows, sizeof **invitations, count);
    return sql_result(store);
}

/* Whether the view has the invitation. */
static bool is_in_view(struct store *store, struct arena *arena, const struct store_view *view,
                       const char *id) {
    static struct statement s = {
        .sql = "SELECT line_ids FROM invitation WHERE id = ?2 AND user_id = ?1"};
    sql_start(store, &s, TEXT(view->user_id), TEXT(id));
    if (!sql_row(store, &s))
        return false;
    const char *line_ids = column_text(&s, 0, arena);
    sql_stop(&s);
    return lines_are_within(line_ids, view->line_ids);
}

enum store_result store_delete_invitation(struct store *store, struct arena *arena,
                                          const struct store_view *view, const char *id) {
    static struct statement s = {.sql = "DELETE FROM invitation WHERE id = ?1"};
    bool found = false;
    while (sql_transact(store)) {
        const bool may_be_done = found && sql_may_have_committed(store);
        sql_lock(store, LOCK_USER, NULL, &view->user_id, 1); /* as who accepts it */
        found = is_in_view(store, arena, view, id);
        if (found && store_trail(store, view->user_id, id))
            sql_run(store, &s, TEXT(id));
        found |= may_be_done;
    }
    return sql_found(store, found);
}

/* --- accepting one --- */

/* An invitation that is being accepted. */
struct accepted {
    const char *id, *user_id, *email, *created_by;
    struct standing standing;
};

#define OF_ACCEPTED(member) ROW_MEMBER(struct accepted, member)
static const struct row_layout accepted_layout = ROW_LAYOUT(
    struct accepted, OF_ACCEPTED(id), OF_ACCEPTED(user_id), OF_ACCEPTED(email),
    OF_ACCEPTED(created_by), OF_ACCEPTED(standing.line_ids), OF_ACCEPTED(standing.is_own_only));

static bool find(struct store *store, struct arena *arena, const unsigned char *hash, int64_t now,
                 struct accepted *found) {
    static struct statement s = {
        .sql = "SELECT id, user_id, email, created_by, line_ids, own_threads, role FROM invitation "
               "WHERE hash = ?1 AND expires_at > ?2"};
    sql_start(store, &s, HASH(hash), INTEGER(now));
    if (!sql_row(store, &s))
        return false;
    row_read(&s, 0, arena, &accepted_layout, found);
    found->standing.role = role_find(column_text(&s, 6, arena));
    sql_stop(&s);
    return true;
}

enum store_result store_find_invitation(struct store *store, struct arena *arena,
                                        const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now,
                                        const char **email) {
    struct accepted found;
    *email = find(store, arena, hash, now, &found) ? found.email : NULL;
    return sql_result(store);
}

/* Finds the invitation and locks its workspace, with the member of its email: `member_id` is ""
 * when there is none. False: it has ended meanwhile. */
static bool lock(struct store *store, struct arena *arena,
                 const struct store_acceptance *acceptance, struct accepted *found,
                 char member_id[ID_SIZE]) {
    return find(store, arena, acceptance->hash, acceptance->now, found) &&
           member_lock(store, found->user_id, found->email, member_id) &&
           find(store, arena, acceptance->hash, acceptance->now, found);
}

/* Inserts the membership and ends the invitation. */
static bool enter(struct store *store, const struct store_acceptance *acceptance,
                  const struct accepted *invitation, bool is_known, enum member_refusal *refusal) {
    static struct statement s = {.sql = "DELETE FROM invitation WHERE id = ?1"};
    const struct store_new_member member = {.id = acceptance->member_id,
                                            .user_id = invitation->user_id,
                                            .email = invitation->email,
                                            .name = acceptance->name,
                                            .password = acceptance->password,
                                            .role = invitation->standing.role,
                                            .line_ids = invitation->standing.line_ids,
                                            .is_own_only = invitation->standing.is_own_only,
                                            .created_by = invitation->created_by,
                                            .now = acceptance->now};
    return member_enter(store, &member, is_known, refusal) &&
           sql_run(store, &s, TEXT(invitation->id));
}

enum store_result store_join(struct store *store, struct arena *arena,
                             struct store_acceptance *acceptance,
                             const struct store_new_session *session,
                             enum member_refusal *refusal) {
    struct accepted invitation = {.user_id = ""};
    char member_id[ID_SIZE] = "";
    bool found = false, is_known = false;
    while (sql_transact(store)) {
        const bool may_be_done = found && sql_may_have_committed(store);
        *refusal = MEMBER_NOT_REFUSED;
        found = lock(store, arena, acceptance, &invitation, member_id);
        is_known = found && *member_id;
        if (found && !is_known && enter(store, acceptance, &invitation, false, refusal) &&
            login_insert_session(store, session, invitation.user_id)) {
            store_name_actor(acceptance->member_id, acceptance->name);
            store_trail(store, invitation.user_id, session->id);
        }
        found |= may_be_done;
    }
    snprintf(acceptance->user_id, ID_SIZE, "%s", invitation.user_id);
    return row_allowed(store, found, !is_known);
}

enum store_result store_accept_invitation(struct store *store, struct arena *arena,
                                          struct store_acceptance *acceptance,
                                          enum member_refusal *refusal) {
    static struct statement show = {.sql = "UPDATE session SET user_id = ?2 WHERE id = ?1"};
    struct accepted invitation = {.user_id = ""};
    char member_id[ID_SIZE] = "";
    bool found = false, is_foreign = false;
    while (sql_transact(store)) {
        const bool may_be_done = found && sql_may_have_committed(store);
        *refusal = MEMBER_NOT_REFUSED;
        found = lock(store, arena, acceptance, &invitation, member_id);
        is_foreign = found && strcmp(member_id, acceptance->member_id) != 0;
        if (found && !is_foreign && enter(store, acceptance, &invitation, true, refusal) &&
            sql_run(store, &show, TEXT(acceptance->session_id), TEXT(invitation.user_id)))
            store_trail(store, invitation.user_id, acceptance->member_id);
        found |= may_be_done;
    }
    snprintf(acceptance->user_id, ID_SIZE, "%s", invitation.user_id);
    return row_allowed(store, found, !is_foreign);
}
