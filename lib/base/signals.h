/* Blocks the signals with which the web server ends a process, so that it does not end between a
 * call to the platform and the database write that records it. The web server waits several seconds
 * before it sends SIGKILL. */
#ifndef SWITCHBOARD_SIGNALS_H
#define SWITCHBOARD_SIGNALS_H

#include <signal.h>

/* Blocks SIGTERM and SIGHUP and stores the previous signal mask in `*before`. */
void signals_block(sigset_t *before);

/* Restores the signal mask `*before`, which delivers the pending signals. */
void signals_restore(const sigset_t *before);

#endif
