/* The signal mask. */
#ifndef SWITCHBOARD_SIGNALS_H
#define SWITCHBOARD_SIGNALS_H

#include <signal.h>

/* Blocks SIGTERM and SIGHUP, with which the web server ends a process, and SIGIO, which reports
 * input on a connection, and stores the previous signal mask in `*before`. A CGI calls it so that
 * it does not end between a call to the platform and the database write that records it. The web
 * server waits several seconds before it sends SIGKILL. */
void signals_block(sigset_t *before);

/* Restores the signal mask `*before`, which delivers the pending signals. */
void signals_restore(const sigset_t *before);

/* The same for all requests of a process that accepts them: the signals are pending until it waits
 * for the next one. Meanwhile the two calls above do nothing. */
void signals_block_until_accept(void);

/* The mask with which the process waits for a request, after signals_block_until_accept: for
 * ppoll(2) and epoll_pwait(2). */
const sigset_t *signals_mask_to_accept(void);

/* Blocks the signals of `list`, which ends with 0, for this thread and all later ones. Returns a
 * descriptor from which they are read (signalfd(2)), non-blocking and closed on execve(2), or -1
 * with errno. */
int signals_open(const int *list);

#endif
