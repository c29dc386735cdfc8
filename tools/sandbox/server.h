/* The HTTP side: a small pool of event-driven threads; hangs and delays hold connections, not
 * threads. */
#ifndef SANDBOX_SERVER_H
#define SANDBOX_SERVER_H

#include <stdint.h>

/* Listens on 127.0.0.1 at that port (0: any). The port taken, or 0 with a message on stderr. */
uint16_t server_start(uint16_t port);

/* Ends at once, whatever clients still wait for. timer_stop comes before. */
void server_stop(void);

/* The port listened on. */
uint16_t server_port(void);

#endif
