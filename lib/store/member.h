/* The people who log in: members, each with a password and sessions (logins.h), and memberships,
 * which say what a member may do with what belongs to a user, the workspace. A member may belong to
 * several workspaces. One who leaves the last is deleted, and comes back as a new member. */
#ifndef SWITCHBOARD_STORE_MEMBER_H
#define SWITCHBOARD_STORE_MEMBER_H

#include "base/crypto.h"
#include "store/store.h"

enum { MEMBERS_MAX = 100 /* of a workspace */ };

/* What a member may do, in ascending order; scope.h says what each may. */
enum role { ROLE_NONE, ROLE_VIEWER, ROLE_AGENT, ROLE_ADMIN, ROLE_OWNER };

/* The names of the roles from ROLE_VIEWER on; ends with NULL. */
extern const char *const role_names[];

const char *role_name(enum role role);              /* not of ROLE_NONE */
enum role role_find(const char *name);              /* ROLE_NONE: it is no name of a role */
bool role_may_give(enum role own, enum role given); /* from admin on, roles up to the own one */

/* What a member may do in a workspace, and of what. */
struct standing {
    enum role role;
    const char *line_ids; /* lin_..., separated by one space; NULL: all lines, as each owner has */
    bool is_own_only;     /* only threads that are assigned to the member or to none; not from
                             ROLE_ADMIN on */
};

/* A member of a workspace. */
struct store_member {
    const char *id, *email, *name;
    enum role role;
    const char *line_ids; /* as of a standing, like the next one */
    bool is_own_only;
    int64_t created_at;     /* of the membership */
    const char *created_by; /* the name of who invited or added the member */
    bool has_factor;        /* logins ask for a second factor */
};

/* A workspace of a member. */
struct store_workspace {
    const char *id, *email;
    enum role role;
};

/* Lists the members of a workspace in the order of their entry; there are MEMBERS_MAX at most. */
enum store_result store_list_members(struct store *store, struct arena *arena, const char *user_id,
                                     struct store_member **members, size_t *count);

/* Lists the workspaces of a member in the order of entry. */
enum store_result store_list_workspaces(struct store *store, struct arena *arena,
                                        const char *member_id, struct store_workspace **workspaces,
                                        size_t *count);

/* Finds the id of the member with this email, or STORE_NOT_FOUND. */
enum store_result store_find_member(struct store *store, const char *email, char id[ID_SIZE]);

/* Why a change of a member is refused, and changes nothing. */
enum member_refusal {
    MEMBER_NOT_REFUSED,
    MEMBER_ABOVE,       /* who changes has not the role for that (any more) */
    MEMBER_OTHER_LINES, /* nor all the lines that the member has, or would get */
    MEMBER_OWNER_LINES, /* an owner has all lines */
    MEMBER_ALL_THREADS, /* an owner and an admin have all threads */
    MEMBER_LAST_OWNER,  /* a workspace has an owner */
    MEMBER_TOO_MANY,    /* the workspace has as many as it may have */
    MEMBER_ELSEWHERE,   /* the member belongs to other workspaces too */
    MEMBER_NO_FACTOR,   /* there is no second factor to be removed */
};

/* A change of a member of the workspace. */
struct store_member_change {
    const char *user_id, *member_id;
    const char *by; /* the member who changes, whose role is read within the transaction; NULL: the
                       operator, who may all */
    enum role role; /* the new one; ROLE_NONE: it stays */
    bool sets_lines;
    const char *line_ids; /* the new ones, as of a standing */
    bool sets_own, is_own_only;
};

struct store_new_member {
    const char *id; /* of a new member; one with this email keeps the own id */
    const char *user_id, *email, *name;
    const char *password; /* its hash; NULL: none */
    enum role role;
    const char *line_ids; /* as of a standing, like the next one */
    bool is_own_only;
    const char *created_by;
    int64_t now;
};

/* Adds a member to the workspace: the one with this email, or a new one; an invitation of the email
 * ends. STORE_NOT_FOUND: the user was deleted. STORE_CONFLICT: it is a member of the
 * workspace already, which keeps the role. */
enum store_result store_add_member(struct store *store, const struct store_new_member *member,
                                   enum member_refusal *refusal);

/* Sets role, lines and threads of a member, and ends the member's invitations of roles and lines
 * that it may not give any more, and the assignments of threads that it may not answer any more.
 * STORE_NOT_FOUND: there is no such member of the workspace. */
enum store_result store_change_member(struct store *store, struct arena *arena,
                                      const struct store_member_change *change,
                                      enum member_refusal *refusal);

/* Ends a membership, its sessions, invitations and assignments; of the last membership also the
 * member. STORE_NOT_FOUND: as before. */
enum store_result store_remove_member(struct store *store, struct arena *arena,
                                      const struct store_member_change *change,
                                      enum member_refusal *refusal);

/* Inserts a link that logs the member in (logins.h), who has a lower role and no other workspace.
 * STORE_NOT_FOUND: as before. */
enum store_result store_insert_reset_link(struct store *store, struct arena *arena,
                                          const struct store_member_change *change,
                                          const unsigned char hash[CRYPTO_HASH_SIZE],
                                          int64_t expires_at, enum member_refusal *refusal);

/* --- internal to the store: within the open transaction --- */

/* Whether the workspace was not deleted. */
bool member_workspace_exists(struct store *store, const char *user_id);

/* Locks workspace and member, and finds the member and whether its login must not be reset: `by`
 * has a role below `least`, or one that is not above the member's, or not all lines of the member,
 * or the member belongs to other workspaces too. False: there is no such member of the workspace,
 * or on failure. */
bool member_may_reset(struct store *store, struct arena *arena,
                      const struct store_member_change *change, enum role least,
                      enum member_refusal *refusal);

/* Reads the role of a member; ROLE_NONE: it is none of the workspace. */
enum role member_role(struct store *store, const char *user_id, const char *member_id);

/* Reads the standing of a member, with the role ROLE_NONE as before. A member_id of NULL is the
 * operator, who may all that an owner may. */
struct standing member_standing(struct store *store, struct arena *arena, const char *user_id,
                                const char *member_id);

/* Finds the workspace to which the member belongs for the longest time. */
bool member_workspace(struct store *store, const char *member_id, char user_id[ID_SIZE]);

/* Inserts the membership, unless there is one, and before it the member, unless it is known; false
 * on failure, or with `*refusal` set. */
bool member_enter(struct store *store, const struct store_new_member *member, bool is_known,
                  enum member_refusal *refusal);

/* Finds the member with the email, and locks it with the workspace until the transaction ends;
 * `id` is "" when there is none. False on failure. */
bool member_lock(struct store *store, const char *user_id, const char *email, char id[ID_SIZE]);

/* Replaces the link that logs the member in (logins.h): each member has one at most. */
bool member_set_link(struct store *store, const char *member_id,
                     const unsigned char hash[CRYPTO_HASH_SIZE], int64_t expires_at);

/* Ends all memberships of a workspace that is deleted, and its invitations and sessions. The
 * assignments of its threads stay: nothing shows them any more. */
bool member_end_all(struct store *store, const char *user_id);

#endif
