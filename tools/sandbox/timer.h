/* Holds connections back without holding a thread: a suspended connection costs nothing until it is
 * due. Connections that are held for long are watched, so that a client that leaves frees them. */
#ifndef SANDBOX_TIMER_H
#define SANDBOX_TIMER_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#define TIMER_FOREVER UINT64_MAX

/* Starts and ends the thread that resumes connections. timer_stop resumes all that are held;
 * afterwards timer_hold refuses. */
int timer_start(void);
void timer_stop(void);

/* Suspends the connection for that many milliseconds. False when the sandbox is ending. */
bool timer_hold(struct MHD_Connection *connection, uint64_t milliseconds);

/* True once timer_stop was called. */
bool timer_stopped(void);

/* Milliseconds of the monotonic clock, and of Unix time. */
uint64_t clock_monotonic(void);
uint64_t clock_unix(void);

#endif
