/* The places of sealed secrets: what crypto_seal authenticates with each, so that a sealed value
 * opens in the row it was sealed for and nowhere else. `table.column|row id`. */
#ifndef SWITCHBOARD_STORE_PLACES_H
#define SWITCHBOARD_STORE_PLACES_H

#include "base/arena.h"

/* The platform access token of an account. */
char *account_token_place(struct arena *arena, const char *account_id);

/* The webhook code of a user, and the one it replaced. */
char *webhook_code_place(struct arena *arena, const char *user_id);
char *webhook_previous_code_place(struct arena *arena, const char *user_id);

#endif
