/* The contexts of sealed values (seal.h): sealing and opening must name the same one. */
#ifndef SWITCHBOARD_STORE_SEAL_CONTEXT_H
#define SWITCHBOARD_STORE_SEAL_CONTEXT_H

#include "base/arena.h"

/* Of account.access_token of the account; in `arena`. */
char *account_token_context(struct arena *arena, const char *account_id);

/* Of webhook.code and webhook.previous_code of the user; in `arena`. Both have one context, since a
 * replaced code is moved from one column to the other as it is. */
char *webhook_code_context(struct arena *arena, const char *user_id);

#endif
