/* Administration: what the operator changes from the command line. Each call is atomic, the caller
 * passes ids and times (ms), and STORE_NOT_FOUND and STORE_CONFLICT change nothing.
 *
 * Emails are compared byte for byte, among users that are not deleted; the email of a deleted user
 * can be used again.
 */
#ifndef SWITCHBOARD_STORE_ADMIN_H
#define SWITCHBOARD_STORE_ADMIN_H

#include "base/crypto.h"
#include "store/store.h"

/* --- users, tokens, plans (spec 5) --- */

/* A user and its API token, of which only the SHA-256 and the last characters are kept. The member
 * with the email, or a new one, is its owner. */
struct store_new_user {
    const char *id, *email;
    const char *member_id; /* of a new member */
    unsigned char token_hash[CRYPTO_HASH_SIZE];
    const char *token_last4; /* its last characters; NULL: not known */
    int64_t now;
};

/* STORE_CONFLICT: another user has the email. */
enum store_result store_insert_user(struct store *store, const struct store_new_user *user);

/* Marks the user as deleted and deletes its tokens, which stop working at once (spec 5.3), its
 * memberships, its invitations and its sessions. The user's row, accounts and data stay; the
 * accounts lose the platform access token, and accounts and lines the platform's ids, which another
 * user can link. Former id: `released ID FORMER`. STORE_NOT_FOUND: no such user. */
enum store_result store_delete_user(struct store *store, const char *email, int64_t now);

/* Replaces the token's hash in one statement: the old token stops working when the new one starts
 * (spec 3). STORE_NOT_FOUND: no such user. */
enum store_result store_replace_token(struct store *store, const char *email,
                                      const unsigned char token_hash[CRYPTO_HASH_SIZE],
                                      const char *last4, int64_t now);

struct store_new_plan {
    const char *email, *name;
    bool is_addon;
    int64_t ends_at; /* INT64_MAX: no end */
    int64_t now;
};

/* Sets a plan. A primary plan replaces the user's primary plan, an add-on the add-on of the same
 * name. STORE_NOT_FOUND: no such user. */
enum store_result store_set_plan(struct store *store, const struct store_new_plan *plan);

/* --- accounts and lines (spec 2.2) --- */

struct store_new_account {
    const char *id, *email, *waba_id, *name;
    const struct store_secret *token; /* NULL: no valid platform access token */
    bool make_default;                /* the user's first account is its default in any case */
    int64_t now;
};

/* STORE_NOT_FOUND: no such user. STORE_CONFLICT: the WABA id is linked already. */
enum store_result store_insert_account(struct store *store,
                                       const struct store_new_account *account);

/* Replaces the platform access token; NULL: the account has no valid token any more.
 * STORE_NOT_FOUND: no such account. */
enum store_result store_set_account_token(struct store *store, const char *account_id,
                                          const struct store_secret *token);

struct store_new_line {
    const char *id, *account_id, *phone_number_id, *phone_number;
    const char *name, *platform_type; /* NULL: none */
    bool is_registered, is_coexisting;
    bool make_primary; /* the user's first line is its primary one in any case */
    int64_t now;
};

/* Inserts a line, or restores an archived line of the same account with these values and its former
 * id. The line's id is written to `id`. STORE_NOT_FOUND: no such account. STORE_CONFLICT: the
 * platform id is in use. */
enum store_result store_insert_line(struct store *store, const struct store_new_line *line,
                                    char id[ID_SIZE]);

/* Sets how many queued messages the line sends in a second; 0: the default. STORE_NOT_FOUND: no
 * such line. */
enum store_result store_set_line_rate(struct store *store, const char *phone_number_id,
                                      int64_t rate);

/* Archives the line: it is no longer listed and cannot send. A line that is archived already keeps
 * its time. STORE_NOT_FOUND: no such line. */
enum store_result store_archive_line(struct store *store, const char *phone_number_id, int64_t now);

/* Marks the line as registered at the Cloud API. STORE_NOT_FOUND: no such line. */
enum store_result store_register_line(struct store *store, const char *phone_number_id);

/* --- blocked contacts (spec 3) --- */

/* A contact of a line, by phone (digits) or by BSUID; the other one is NULL. */
struct store_block {
    const char *phone_number_id, *phone, *bsuid;
    int64_t now;
    char contact_id[ID_SIZE]; /* in: id for a new contact; out: the contact's id */
};

/* Blocks the contact on the line; inserts the contact if there is none. A repetition changes
 * nothing. STORE_NOT_FOUND: no such line. */
enum store_result store_block_contact(struct store *store, struct store_block *block);

/* Ends the block. `*was_blocked` false: the contact was not blocked, or does not exist.
 * STORE_NOT_FOUND: no such line. */
enum store_result store_unblock_contact(struct store *store, struct store_block *block,
                                        bool *was_blocked);

#endif
