/* The statuses that follow an accepted send, when the setting automaticStatuses is on: sent,
 * delivered, read, some time apart. */
#ifndef SANDBOX_STATUSES_H
#define SANDBOX_STATUSES_H

#include "messages.h"

int statuses_start(void);
void statuses_stop(void);

/* Notes an accepted send. Under the state lock. */
void statuses_after_send(const struct send *send, const char *digits, const char *wamid);

#endif
