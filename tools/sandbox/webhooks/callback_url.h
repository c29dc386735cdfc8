/* The URL that webhooks are sent to. */
#ifndef SANDBOX_CALLBACK_URL_H
#define SANDBOX_CALLBACK_URL_H

#include "webhooks/webhook_update.h"

/* Returns the callback URL of an update, in `arena`: for messages that of the number, else that of
 * the account, else that of the settings, which may be NULL. Called under the lock of the state. */
const char *callback_url(struct arena *arena, const struct update *update);

#endif
