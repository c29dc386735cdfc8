/* Delays connections without blocking a thread: a suspended connection takes no processor time
 * until it is due. Connections with a long delay are watched, so that they are freed when the
 * client closes them. */
#ifndef SANDBOX_TIMER_H
#define SANDBOX_TIMER_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

/* A delay that ends only with the sandbox, or when the client closes the connection. */
#define TIMER_FOREVER INT64_MAX

/* Starts the thread that resumes connections. Returns false when it cannot be started. */
bool timer_start(void);

/* Resumes all held connections and ends the thread. After it timer_hold returns false. */
void timer_stop(void);

/* Ends the delay of all held connections but those that are held for ever. */
void timer_release(void);

/* Suspends the connection for that many milliseconds. Returns false when the sandbox ends. */
bool timer_hold(struct MHD_Connection *connection, int64_t milliseconds);

/* Whether timer_stop was called. */
bool timer_stopped(void);

#endif
