/* Delays connections without blocking a thread: a suspended connection takes no processor time
 * until it is due. Connections with a long delay are watched, so that they are freed when the
 * client closes them. */
#ifndef SANDBOX_TIMER_H
#define SANDBOX_TIMER_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#define TIMER_FOREVER UINT64_MAX

/* Start and end the thread that resumes connections. timer_stop resumes all held connections; after
 * it timer_hold returns false. */
int timer_start(void);
void timer_stop(void);

/* Suspends the connection for that many milliseconds. Returns false if the sandbox is ending. */
bool timer_hold(struct MHD_Connection *connection, uint64_t milliseconds);

/* True after timer_stop was called. */
bool timer_stopped(void);

/* Milliseconds of the monotonic clock, and of Unix time. */
uint64_t clock_monotonic(void);
uint64_t clock_unix(void);

#endif
