/* The webhooks of the platform: messages, statuses of sends, and changes of identities, in batches,
 * with duplicates and in any order, each repeated until it is answered 200. */
#ifndef SOAK_PLATFORM_H
#define SOAK_PLATFORM_H

#include <stdint.h>

/* Listens for the statuses that the sandbox sends of its sends; returns the port. */
int platform_listen(void);

void platform_start(void);

/* To be called after world.end: sends one more message of every person with all identities, and
 * waits until every payload is accepted, at most `ms`. The others are written to unacked.tsv. */
void platform_finish(int64_t ms);

#endif
