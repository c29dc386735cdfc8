/* The connections of a FastCGI process. A pool's connections belong to the pool: it accepts them,
 * waits for a request on each, and passes one that has a request to a free process through a
 * socket. The process may keep the connection after its answer, and gives it back before it takes
 * another one and when it ends. So any number of connections that the web server keeps needs no
 * process, and a process that ends closes none. */
#ifndef SWITCHBOARD_NEXT_CONNECTION_H
#define SWITCHBOARD_NEXT_CONNECTION_H

#include <stdbool.h>

/* The variable with the number of the descriptor of that socket: of type SOCK_SEQPACKET, with a
 * message for each connection (base/process/descriptor.h), in both directions. All processes of a
 * pool share it. */
#define CONNECTIONS_SOCKET "SWITCHBOARD_CONNECTIONS"

/* The variable with the number of seconds without a request after which a process ends. */
#define CONNECTIONS_IDLE "SWITCHBOARD_IDLE_SECONDS"

/* Prepares next_connection_await, before the confinement. Without CONNECTIONS_SOCKET in the
 * environment this process accepts its connections itself, on its standard input, and keeps none.
 */
void next_connection_open(void);

/* Whether a connection may be kept after an answer. */
bool next_connection_may_be_kept(void);

/* Waits for a connection with a request. `kept` is the one of the last request, or -1; it is given
 * back when another connection is returned. `must_end` is called before each wait and after each
 * signal. SIGTERM, SIGHUP and SIGIO are delivered in this call only. Returns -1 when the process
 * must end: also after CONNECTIONS_IDLE, and when the pool has ended. */
int next_connection_await(int kept, bool (*must_end)(void));

#endif
