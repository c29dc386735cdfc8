/* The platform as it calls /platform/webhook: messages, statuses of what was sent, and changes of
 * identities, in batches, twice, and in any order, each again and again until it is answered 200.
 */
#ifndef SOAK_PLATFORM_H
#define SOAK_PLATFORM_H

#include <stdint.h>

/* Listens for the sandbox, which tells what it accepted; returns the port. */
int platform_listen(void);

void platform_start(void);

/* After the world's end: lets every person write once more under all names, and waits until all is
 * taken, `ms` at most. What was not is in unacked.tsv then. */
void platform_finish(int64_t ms);

#endif
