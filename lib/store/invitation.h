/* Invitations: links by which a person becomes a member of a workspace. There is no mail: who makes
 * one hands the link over. It can be used once, and while its maker may still give the role: the
 * change that ends this deletes it (member.h). The caller makes and hashes the links. */
#ifndef SWITCHBOARD_STORE_INVITATION_H
#define SWITCHBOARD_STORE_INVITATION_H

#include "store/logins.h"
#include "store/member.h"

enum { INVITATIONS_MAX = 50 /* of a workspace */ };

/* How long an invitation can be accepted. */
#define INVITATION_MS (7 * 24 * 60 * 60 * INT64_C(1000))

struct store_invitation {
    const char *id, *user_id;
    const char *email; /* of the person who may accept it */
    enum role role;
    const char *line_ids; /* as of a standing (member.h), like the next one */
    bool is_own_only;
    const char *made_by;    /* the member who made it; NULL: the operator */
    const char *created_by; /* the maker's name */
    int64_t created_at, expires_at;
};

/* Inserts an invitation, in place of a former one of the email. What the maker may give is read
 * within the transaction. STORE_NOT_FOUND: the user was deleted. STORE_CONFLICT: the email is that
 * of a member of the workspace. */
enum store_result store_insert_invitation(struct store *store, struct arena *arena,
                                          const struct store_invitation *invitation,
                                          const unsigned char hash[CRYPTO_HASH_SIZE],
                                          enum member_refusal *refusal);

/* Lists the invitations of a workspace for no other lines than those of the view, oldest first,
 * those that have expired too; there are INVITATIONS_MAX at most. */
enum store_result store_list_invitations(struct store *store, struct arena *arena,
                                         const struct store_view *view,
                                         struct store_invitation **invitations, size_t *count);

/* Revokes an invitation: it is refused from the commit on. STORE_NOT_FOUND: there is no such one.
 */
enum store_result store_delete_invitation(struct store *store, struct arena *arena,
                                          const struct store_view *view, const char *id);

/* Who accepts an invitation. */
struct store_acceptance {
    unsigned char hash[CRYPTO_HASH_SIZE]; /* of the link's value */
    const char *member_id;                /* a new id, or that of the member who is logged in */
    const char *name, *password;          /* of a new member; the password is its hash */
    const char *session_id;               /* of the member who is logged in */
    int64_t now;
    char user_id[ID_SIZE]; /* set: the workspace */
};

/* Finds the email that an invitation is for; NULL: there is no such one, or its time is over. */
enum store_result store_find_invitation(struct store *store, struct arena *arena,
                                        const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now,
                                        const char **email);

/* Makes a new member of the invitation's email, with a session. STORE_NOT_FOUND: there is no such
 * invitation, or its time is over. STORE_CONFLICT: a member has the email, and must log in. */
enum store_result store_join(struct store *store, struct arena *arena,
                             struct store_acceptance *acceptance,
                             const struct store_new_session *session, enum member_refusal *refusal);

/* Makes the member who is logged in one of the workspace, which the session then shows; a member of
 * it keeps the role. STORE_NOT_FOUND: as before. STORE_CONFLICT: it is for another email. */
enum store_result store_accept_invitation(struct store *store, struct arena *arena,
                                          struct store_acceptance *acceptance,
                                          enum member_refusal *refusal);

#endif
