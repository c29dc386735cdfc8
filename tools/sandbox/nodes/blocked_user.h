/* The users that a number has blocked: /{phone-number-id}/block_users. Called under the lock of the
 * state. */
#ifndef SANDBOX_BLOCKED_USER_H
#define SANDBOX_BLOCKED_USER_H

#include "state/graph_target.h"

/* GET, POST and DELETE of the edge. */
void blocked_user_list(struct exchange *exchange, const struct target *target);
void blocked_user_add(struct exchange *exchange, const struct target *target);
void blocked_user_remove(struct exchange *exchange, const struct target *target);

/* Deletes the lists of all numbers. */
void blocked_user_clear(void);

#endif
