/* Where a sealed value belongs (crypto.h): sealing and opening must name the same place, so that a
 * value copied to another row does not open there. */
#ifndef SWITCHBOARD_STORE_PLACES_H
#define SWITCHBOARD_STORE_PLACES_H

#include "base/arena.h"

/* account.access_token of the account. */
char *account_token_place(struct arena *arena, const char *account_id);

/* webhook.code of the user, and webhook.previous_code too: a code moves from one to the other as it
 * is. */
char *webhook_code_place(struct arena *arena, const char *user_id);

#endif
