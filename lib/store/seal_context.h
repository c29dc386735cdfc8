/* The contexts of sealed values (seal.h): a value must be sealed and opened with the same context.
 */
#ifndef SWITCHBOARD_STORE_SEAL_CONTEXT_H
#define SWITCHBOARD_STORE_SEAL_CONTEXT_H

#include "base/arena.h"

/* Returns the context of the account's access_token; in `arena`. */
char *account_token_context(struct arena *arena, const char *account_id);

/* Returns the context of the user's webhook code and previous code; in `arena`. They share one
 * context because a replaced code moves from one column to the other without being sealed again. */
char *webhook_code_context(struct arena *arena, const char *user_id);

/* Returns the context of the secret of the member's second factor; in `arena`. */
char *factor_secret_context(struct arena *arena, const char *member_id);

/* Returns the context of the answers that are stored with the user's idempotency keys; in `arena`.
 */
char *idempotency_answer_context(struct arena *arena, const char *user_id);

#endif
