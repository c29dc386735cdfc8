/* Scoped tokens: API tokens with a part of the main token's scopes, and an end. The caller makes
 * and hashes them, and says which scopes there are; here they are words, separated by spaces. */
#ifndef SWITCHBOARD_STORE_SCOPED_TOKEN_H
#define SWITCHBOARD_STORE_SCOPED_TOKEN_H

#include "base/crypto.h"
#include "store/actor.h"
#include "store/store.h"

enum {
    SCOPED_TOKENS_MAX = 50,              /* of a user; those that have expired count, too */
    SCOPED_TOKEN_USE_MS = 60 * 60 * 1000 /* between two writings of its last use */
};

struct store_scoped_token {
    const char *id, *name, *last4;
    const char *scopes;     /* words, separated by one space */
    const char *line_ids;   /* lin_... of the user, separated by one space; NULL: all lines */
    const char *created_by; /* the name of who made it */
    int64_t created_at;
    int64_t expires_at;   /* INT64_MAX: never */
    int64_t last_used_at; /* INT64_MAX: not yet */
};

/* Finds the user, who is not deleted, and the scoped token with this SHA-256, or STORE_NOT_FOUND.
 * Of the token `created_by`, `last4` and `last_used_at` are not set. It may have expired: the
 * caller compares expires_at at each request, because the row may have been kept
 * (store_keep_settings). */
enum store_result store_authenticate_scoped(struct store *store, struct arena *arena,
                                            const unsigned char hash[CRYPTO_HASH_SIZE],
                                            struct store_user *user,
                                            struct store_scoped_token *token);

/* Lists the user's tokens with no other lines than those of the view, oldest first; there are
 * SCOPED_TOKENS_MAX at most. */
enum store_result store_list_scoped_tokens(struct store *store, struct arena *arena,
                                           const struct store_view *view,
                                           struct store_scoped_token **list, size_t *count);

/* Inserts a token of the user. STORE_CONFLICT: the user has SCOPED_TOKENS_MAX already. */
enum store_result store_insert_scoped_token(struct store *store, const char *user_id,
                                            const struct store_scoped_token *token,
                                            const unsigned char hash[CRYPTO_HASH_SIZE]);

/* What changes of a token. */
struct store_scoped_token_change {
    const char *name, *scopes; /* NULL: it stays */
    bool sets_lines;
    const char *line_ids; /* NULL: all lines */
};

/* Changes a token. STORE_NOT_FOUND: the view has no such token. */
enum store_result store_change_scoped_token(struct store *store, struct arena *arena,
                                            const struct store_view *view, const char *id,
                                            const struct store_scoped_token_change *change);

/* Sets the last use of the token to `*at`, unless that of the row is later or less than
 * SCOPED_TOKEN_USE_MS older; then only reads. Sets `*at` to that of the row. STORE_NOT_FOUND: there
 * is no such token. */
enum store_result store_use_scoped_token(struct store *store, const char *id, int64_t *at);

/* Revokes a token: it is refused from the commit on. STORE_NOT_FOUND: the view has no such one. */
enum store_result store_delete_scoped_token(struct store *store, struct arena *arena,
                                            const struct store_view *view, const char *id);

/* Revokes all tokens of the user, within the open transaction. */
bool store_end_scoped_tokens(struct store *store, const char *user_id);

#endif
