/* What the commands of `switchboard webhook` share. */
#ifndef SWITCHBOARD_ADMIN_WEBHOOK_H
#define SWITCHBOARD_ADMIN_WEBHOOK_H

#include "store/user_webhook.h"

struct invocation;

/* Finds the webhook of the first operand. Returns an exit code, after printing a failure. */
int webhook_find(struct invocation *call, struct store_webhook *webhook);

/* Stores the change, and notifies the courier if events are due by it. */
enum store_result webhook_store_change(struct invocation *call,
                                       const struct store_webhook_change *change);

#endif
