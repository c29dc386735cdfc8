/* The database: each use case is one call, which is atomic. No SQL, cursor or transaction is
 * visible outside. The caller passes ids and times, so that calls can be repeated and tested. Times
 * are milliseconds since 1970.
 *
 * Every call that writes may be repeated as a whole with the same arguments: the second call
 * changes nothing. Its result may be STORE_NOT_FOUND where the first one deleted the row,
 * STORE_CONFLICT where the first one restored an archived line, and what it counts may be 0. Two
 * kinds of calls go on where the first one ended: those that clean up in parts (housekeeping.h),
 * and the leasing of events (outbox.h).
 *
 * On a server each such call repeats itself, after a deadlock, a serialization failure and a lost
 * connection, whether its commit was carried out or not (sql_transact in sql.h): callers do not
 * repeat it. Its result is then that of the first run. It returns the failure when it has not
 * succeeded within the lock timeout (store_set_lock_timeout). Every new call that writes keeps this
 * rule.
 *
 * Strings and arrays that a call returns are in the `arena` that was passed to it.
 */
#ifndef SWITCHBOARD_STORE_H
#define SWITCHBOARD_STORE_H

#include "engine/database.h"
#include "store/view.h"

/* Has the store keep users and lines that it finds by API token and by the platform's id, until a
 * row by which requests are authorized changes: for processes that serve many requests. Does
 * nothing for NULL. */
void store_keep_settings(struct store *store);

/* --- access (spec 5) --- */

struct store_user {
    const char *id, *email;
    const char *default_account_id; /* NULL: none */
    const char *primary_line_id;    /* NULL: none */
    const char *plan_name;          /* the primary plan's; NULL: none */
    int64_t plan_ends_at;           /* INT64_MAX: no end */
    bool has_valid_account;         /* an account with a platform access token is linked */
};

/* Finds the user whose API token has this SHA-256 and who is not deleted, or STORE_NOT_FOUND. */
enum store_result store_authenticate(struct store *store, struct arena *arena,
                                     const unsigned char token_hash[32], struct store_user *user);

/* A session of the dashboard (logins.h has the calls that change one). */
struct store_session {
    const char *id;
    int64_t created_at;   /* the login */
    int64_t confirmed_at; /* the login, or the last time that the password was given again */
    int64_t last_seen_at; /* the login, or the last renewal */
    int64_t expires_at;   /* it ends then, unless it is renewed */
    bool is_by_link;      /* the login was by a link, not by the password */
    /* whose session it is; not in lists */
    const char *member_id, *member_email, *member_name;
    const char *role;                 /* in the workspace (member.h) */
    const char *line_ids;             /* as of a view */
    bool is_own_only;                 /* as of a standing (member.h) */
    bool requires_factor, has_factor; /* the workspace requires one of its members (factor.h) */
};

/* Finds the session whose value has this SHA-256 and that has not ended, and the user, the
 * workspace: `workspace`, or NULL: the one that the session shows. STORE_NOT_FOUND also when the
 * member of the session does not belong to it. The membership is read each time, so that a removal
 * and a change of role or lines act from their commit on. */
enum store_result store_authenticate_session(struct store *store, struct arena *arena,
                                             const unsigned char hash[32], const char *workspace,
                                             int64_t now, struct store_user *user,
                                             struct store_session *session);

struct store_account {
    const char *id, *user_id, *waba_id, *name;
    struct slice sealed_token; /* n == 0: no valid platform access token */
    int64_t created_at;
    const char *email; /* its user's; store_list_accounts only */
    bool is_default;
};

/* Lists the user's accounts in the order of their creation; user_id NULL: all accounts. */
enum store_result store_list_accounts(struct store *store, struct arena *arena, const char *user_id,
                                      struct store_account **accounts, size_t *count);

/* Finds the user's account with this id; user_id NULL: of any user. */
enum store_result store_find_account(struct store *store, struct arena *arena, const char *user_id,
                                     const char *account_id, struct store_account *account);

/* Whether any user has a line or an account with this id of the platform, archived or not: STORE_OK
 * or STORE_NOT_FOUND. */
enum store_result store_is_platform_id(struct store *store, const char *platform_id);

/* --- contacts, threads, messages (spec 3, 4.3) --- */

/* Whether the contact with this phone (digits) or this BSUID is blocked on the line; either may be
 * NULL. */
enum store_result store_is_blocked(struct store *store, const char *line_id, const char *account_id,
                                   const char *phone, const char *bsuid, bool *blocked);

/* Whether the message with this wamid is stored for the line, and its contact is blocked on the
 * line. `wamid` may be NULL. */
enum store_result store_is_sender_blocked(struct store *store, const char *line_id,
                                          const char *wamid, bool *blocked);

/* A send that the platform accepted. */
struct store_send {
    const char *user_id, *account_id, *line_id;
    const char *phone; /* the recipient's digits; NULL: sent to the BSUID */
    const char *wa_id; /* the phone as the platform normalized it; NULL: not in its answer */
    const char *bsuid;
    const char *wamid, *type;
    const char *context_wamid;                     /* NULL: not a reply */
    struct slice body;                             /* the body sent to the platform */
    const char *template_name, *template_language; /* of a template message; else NULL */
    const char *flow_id;                           /* the flow that it opens; NULL: none, or the
                                                      template's */
    const char *flow_token;                        /* the token of its flow; NULL: none */
    const char *by_id;          /* who sent it: mbr_... or tok_...; NULL: the main token */
    const char *by_name;        /* its name; NULL with by_id */
    const char *media_id;       /* of its file; NULL: none */
    const char *archived_id;    /* the same, when the archive shall copy it; else NULL */
    const char *outgoing_id;    /* its row of outgoing.h, which is then accepted; NULL: none */
    const char *message_status; /* in the platform's answer; NULL: none */
    const struct outgoing_streak *streaks; /* of outgoing.h, that the answer changes; NULL: none */
    int64_t now;
    char new_contact_id[ID_SIZE], new_thread_id[ID_SIZE], message_id[ID_SIZE];
};

/* Upserts contact and thread, and inserts the message. A repetition with the same wamid changes
 * nothing. */
enum store_result store_insert_send(struct store *store, const struct store_send *send);

#endif
