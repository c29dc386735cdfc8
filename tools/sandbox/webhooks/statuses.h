/* The statuses that follow an accepted send when the setting automaticStatuses is on: sent,
 * delivered, read, some time apart, or failed. */
#ifndef SANDBOX_STATUSES_H
#define SANDBOX_STATUSES_H

#include "judge/judge.h"

/* Starts the thread that sends statuses. Returns false when it cannot be started. */
bool statuses_start(void);

/* Ends the thread, after posts_stop; statuses that are not due yet are dropped. */
void statuses_stop(void);

/* Schedules the statuses of an accepted send with the message id `wamid`; `digits` are those of its
 * phone. With a `failure`, the code of an error, the message is not delivered. Called under the
 * lock of the state. */
void statuses_after_send(const struct send *send, const char *digits, const char *wamid,
                         int64_t failure);

/* Schedules the webhook of an update, in the form of the call that sends webhooks, for that many
 * milliseconds later, and takes it over. It needs an `id` of its own. A `template_status` sets the
 * status of its template first, and is dropped if the template is not PENDING any more
 * (template_settle). Called under the lock of the state. */
void statuses_schedule(cJSON *update, int64_t milliseconds);

#endif
