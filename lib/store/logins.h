/* Logins to the dashboard: passwords, links, failures, and sessions (spec 5). The caller hashes
 * passwords and the values of cookies and links. */
#ifndef SWITCHBOARD_STORE_LOGINS_H
#define SWITCHBOARD_STORE_LOGINS_H

#include "base/crypto.h"
#include "store/store.h"

enum {
    SESSION_IDLE_MS = 12 * 60 * 60 * 1000,        /* a session ends so long after it was seen */
    SESSION_LONGEST_MS = 7 * 24 * 60 * 60 * 1000, /* and so long after its login */
    SESSION_RENEWAL_MS = 60 * 1000,               /* it is written that it was seen, this often */
    SESSIONS_MAX = 50,                            /* of a member: a further login ends the oldest */
    LINK_MS = 15 * 60 * 1000,                     /* how long a link can be used */
    PENDING_MS = 5 * 60 * 1000,                   /* how long a login waits for the second factor */
    DEVICES_MAX = 10,            /* browsers of a member that are known: those of the last logins */
    LOGIN_ACCOUNT_FAILURES = 5,  /* then the account is blocked, see below */
    LOGIN_ADDRESS_FAILURES = 20, /* within LOGIN_ADDRESS_MS */
    LOGIN_ADDRESS_MS = 15 * 60 * 1000,
    LOGIN_FORGET_MS = 60 * 60 * 1000, /* the failures of an account count until then */
};

/* A browser is known for so long after its last login. */
#define DEVICE_MS (180 * 24 * 60 * 60 * INT64_C(1000))

/* --- limits --- */

/* An attempt to log in, or to confirm with the password. */
struct store_login {
    const char *id;      /* of this attempt */
    const char *subject; /* whose failures are counted: an account, or a known browser of it, or a
                            session; NULL: by a link, which has no account before it is found */
    const char *address; /* the network of the client; NULL: a browser or session that is known */
    const char
        *user_id; /* of a failure: who gets a row in the trail; NULL: no member has the email */
    const char *member_id;        /* of a failure: whose password it was */
    const unsigned char *pending; /* of a wrong code: the hash of the login that waits for it */
    int64_t now;
};

/* Sets whether the member has logged in before in the browser with this cookie. */
enum store_result store_find_device(struct store *store, const char *member_id,
                                    const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now,
                                    bool *is_known);

/* Counts the attempt as a failure of the subject before the password is checked, so that attempts
 * at the same time cannot exceed the limit. After 5 failures the subject is blocked for 1 minute,
 * after each further one for 2, 4, 8, then 15 minutes. `*blocked_until` is the time until which the
 * subject or the address is blocked, and nothing was counted; 0: the attempt may go on. */
enum store_result store_begin_login(struct store *store, const struct store_login *attempt,
                                    int64_t *blocked_until);

/* Counts a failure of the address and of the login that waits for a code, if the attempt has one,
 * and leaves a row in the trail of the user, if there is one: in one transaction, so that it takes
 * the same time. The fifth failure of a login that waits ends it; sets whether it has ended. */
enum store_result store_fail_login(struct store *store, const struct store_login *attempt,
                                   bool *has_ended);

/* Deletes the failures of the subject: the password was right. */
enum store_result store_clear_login_failures(struct store *store,
                                             const struct store_login *attempt);

/* --- passwords --- */

/* Finds the member with this email, the workspace to which the member belongs for the longest time,
 * and the hash of the password; `*hash` NULL: the member has none. */
enum store_result store_find_login(struct store *store, struct arena *arena, const char *email,
                                   const char **member_id, const char **user_id, const char **hash);

/* Finds the hash of the member's password; NULL: there is none. */
enum store_result store_find_password(struct store *store, struct arena *arena,
                                      const char *member_id, const char **hash);

/* Replaces the hash `old` of a password by one of the same password with other parameters. */
enum store_result store_rehash_password(struct store *store, const char *member_id, const char *old,
                                        const char *hash);

/* --- sessions --- */

struct store_new_session {
    const char *id, *member_id;
    const char *user_id;                  /* the workspace; NULL: the one of the longest time */
    unsigned char hash[CRYPTO_HASH_SIZE]; /* of the cookie's value */
    bool is_by_link;
    const char *password; /* the hash of the password that was checked; by a link: not used */
    const char *address, *agent;   /* of the client */
    const unsigned char *device;   /* hash of the cookie of its browser; NULL: it is not kept */
    const unsigned char *replaced; /* hash of the cookie of a session that ends; NULL: none */
    bool is_pending; /* set: the member has a second factor, and the login waits for it */
    int64_t now;
};

/* Inserts a session of a login by password, or if the member has a second factor, the login that
 * waits for it (factor.h), which ends no other session; if the member has SESSIONS_MAX, the oldest
 * ends. Keeps its browser, and ends the session that it replaces in that browser. STORE_NOT_FOUND:
 * the member was deleted, or has another password by now, which ended the sessions of the former
 * one. */
enum store_result store_insert_session(struct store *store, struct store_new_session *session);

/* Sets the password and ends all sessions, pending logins and the link of the member, then inserts
 * `session` (NULL: none). STORE_NOT_FOUND: the member was deleted. */
enum store_result store_set_password(struct store *store, const char *member_id, const char *hash,
                                     const struct store_new_session *session, int64_t now);

/* Inserts the link's hash; a former link of the member cannot be used any more. STORE_NOT_FOUND: no
 * such member. */
enum store_result store_insert_link(struct store *store, const char *email,
                                    const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now);

/* Uses the link and inserts `session` for its member, as store_insert_session; session->member_id
 * is not read, and set to the id of the member, in `arena`. STORE_NOT_FOUND: there is no such link,
 * or its time is over. STORE_CONFLICT: it was used before. */
enum store_result store_use_link(struct store *store, struct arena *arena,
                                 const unsigned char hash[CRYPTO_HASH_SIZE],
                                 struct store_new_session *session);

/* Sets that the password was given again in the session. STORE_NOT_FOUND: it has ended. */
enum store_result store_confirm_session(struct store *store, const char *user_id, const char *id,
                                        int64_t now);

/* Sets the workspace of the session. STORE_NOT_FOUND: the session has ended, or its member does not
 * belong to the workspace. */
enum store_result store_choose_workspace(struct store *store, const char *id, const char *member_id,
                                         const char *user_id);

/* A session in a list. */
struct store_session_entry {
    struct store_session session;
    const char *address, *agent;
};

/* Lists the member's sessions, newest first; there are SESSIONS_MAX at most. */
enum store_result store_list_sessions(struct store *store, struct arena *arena,
                                      const char *member_id, int64_t now,
                                      struct store_session_entry **sessions, size_t *count);

/* Sets that the session was seen at `now`, and when it expires, in `session` too. Does not write
 * when that was done less than SESSION_RENEWAL_MS ago. */
enum store_result store_renew_session(struct store *store, struct store_session *session,
                                      int64_t now);

/* Ends a session of the member; the row is left in the trail of `user_id`. STORE_NOT_FOUND: it is
 * no session of this member, or has ended. */
enum store_result store_delete_session(struct store *store, const char *user_id,
                                       const char *member_id, const char *id);

/* Ends the member's sessions except `kept`; `*count` is their number. */
enum store_result store_delete_other_sessions(struct store *store, const char *user_id,
                                              const char *member_id, const char *kept,
                                              size_t *count);

/* Deletes at most `most` sessions, invitations, links and browsers that have ended and failures
 * that do not count any more. As store_delete_old_rows, which calls it. */
enum store_result store_delete_old_logins(struct store *store, int64_t now, int64_t most,
                                          size_t *removed);

/* --- internal to the store: within the open transaction --- */

/* Inserts a session of the workspace, as store_insert_session. */
bool login_insert_session(struct store *store, const struct store_new_session *session,
                          const char *user_id);

#endif
