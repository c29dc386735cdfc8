/* The statuses that follow an accepted send, when the setting automaticStatuses is on: sent,
 * delivered, read, some time apart. */
#ifndef SANDBOX_STATUSES_H
#define SANDBOX_STATUSES_H

#include "messages.h"

int statuses_start(void);
void statuses_stop(void);

/* Schedules the statuses of an accepted send. Called under the state lock. */
void statuses_after_send(const struct send *send, const char *digits, const char *wamid);

#endif
