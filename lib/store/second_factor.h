/* The second factor of a member: a secret that an authenticator app has too (base/totp.h), and
 * recovery codes. A login of a member who has one is pending until a code was given. The caller
 * makes and hashes the codes, and seals and opens the secret. */
#ifndef SWITCHBOARD_STORE_SECOND_FACTOR_H
#define SWITCHBOARD_STORE_SECOND_FACTOR_H

#include "store/logins.h"
#include "store/member.h"

enum { RECOVERY_CODES = 10 };

struct store_factor {
    struct slice secret; /* sealed with factor_secret_context */
    int64_t last_step;   /* the latest step whose code was used */
    int64_t created_at;
    bool is_set;   /* logins ask for it; else it is being set up */
    int64_t codes; /* recovery codes that are left */
};

/* The hashes of new recovery codes. */
struct store_recovery_codes {
    unsigned char hashes[RECOVERY_CODES][CRYPTO_HASH_SIZE];
};

/* Finds the factor of the member. STORE_NOT_FOUND: there is none. */
enum store_result store_find_factor(struct store *store, struct arena *arena, const char *member_id,
                                    struct store_factor *factor);

/* Stores the secret of a factor that is being set up, in the place of a former one that is too.
 * STORE_CONFLICT: the member has a factor. STORE_NOT_FOUND: the member was removed. */
enum store_result store_begin_factor(struct store *store, const char *member_id,
                                     const struct store_secret *secret, int64_t now);

/* Sets the factor with this sealed secret after its code of `step` was given, with its recovery
 * codes, and ends the member's logins and sessions except `kept`. STORE_CONFLICT: it was set, or
 * replaced, meanwhile. */
enum store_result store_set_factor(struct store *store, const struct store_session *kept,
                                   const char *user_id, const struct store_factor *factor,
                                   int64_t step, const struct store_recovery_codes *codes,
                                   int64_t now);

/* Replaces the recovery codes. STORE_NOT_FOUND: the member has no factor. */
enum store_result store_replace_recovery_codes(struct store *store, const char *user_id,
                                               const char *member_id,
                                               const struct store_recovery_codes *codes);

/* Deletes the factor and its codes, and ends the member's logins, and sessions except `kept`.
 * STORE_NOT_FOUND: the member has none. */
enum store_result store_delete_factor(struct store *store, const char *user_id,
                                      const char *member_id, const char *kept);

/* The same for a colleague, whose sessions all end: `by` is an owner, who has not lost the app of
 * the member, or NULL, the operator. STORE_NOT_FOUND: there is no such member of the workspace. */
enum store_result store_reset_factor(struct store *store, struct arena *arena,
                                     const struct store_member_change *change,
                                     enum member_refusal *refusal);

/* --- pending logins --- */

struct store_pending {
    const char *member_id, *email, *name;
    const char *user_id; /* the workspace of the longest time */
};

/* Finds the login of the cookie with this hash, which has not ended. STORE_NOT_FOUND: there is
 * none. */
enum store_result store_find_pending(struct store *store, struct arena *arena,
                                     const unsigned char hash[CRYPTO_HASH_SIZE], int64_t now,
                                     struct store_pending *pending);

/* What was given as the second factor. */
struct store_proof {
    int64_t step;              /* of a code of the app */
    const unsigned char *code; /* the hash of a recovery code; NULL: a code of the app */
};

/* Uses the proof, ends the login of the cookie with this hash, and inserts its session.
 * STORE_NOT_FOUND: the login has ended. STORE_CONFLICT: the code was used before, or is none; the
 * login stays. */
enum store_result store_end_pending(struct store *store, const unsigned char hash[CRYPTO_HASH_SIZE],
                                    const struct store_proof *proof,
                                    struct store_new_session *session);

/* --- the rule of a workspace --- */

/* Why the rule is not set. */
enum factor_rule_refusal {
    FACTOR_RULE_NOT_REFUSED,
    FACTOR_RULE_NO_OWNER,  /* `by` is no owner (any more) */
    FACTOR_RULE_NO_FACTOR, /* who requires a factor must have one */
};

/* Sets whether members of the workspace need a second factor; `by` is the owner who says so, or
 * NULL, the operator, who needs none and is not refused. */
enum store_result store_set_factor_rule(struct store *store, const char *user_id, const char *by,
                                        bool is_required, enum factor_rule_refusal *refusal);

#endif
