/* The HTTP server: a small pool of event-driven threads. Hangs and delays hold connections, but no
 * threads. It owns the exchanges and the faults that apply to them. */
#ifndef SANDBOX_SERVER_H
#define SANDBOX_SERVER_H

#include <stdint.h>

/* Listens on an IPv4 or IPv6 address at `port` (0: any free port). Returns the port, or 0 after a
 * message on stderr. */
uint16_t server_start(const char *address, uint16_t port);

/* Stops at once and closes the connections of waiting clients. Call timer_stop before. */
void server_stop(void);

#endif
