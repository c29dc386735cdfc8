/* The connections of a pool: a thread accepts them, waits until one has a request, and passes it to
 * a free process; the process gives it back after its answer (web/next_connection.h). The thread
 * reads no byte of a request. It closes no connection before the client does, except at the end of
 * the pool, because a web server may use one at any moment. */
#ifndef SWITCHBOARD_CONNECTIONS_H
#define SWITCHBOARD_CONNECTIONS_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "listener.h"

struct connections {
    int listener;
    int pool_end;             /* of the socket to the processes */
    int programs_end;         /* its other end, which all of them have */
    int idle;                 /* the connections that wait for a request (epoll(7)) */
    int orders;               /* an eventfd: `phase` has changed */
    _Atomic int phase;        /* enum phase in connections.c */
    bool *is_idle;            /* by descriptor: whether it is in `idle` */
    long limit;               /* of descriptors */
    long count, most;         /* of those in `idle`, and how many are accepted */
    bool is_full;             /* no connection can be passed now */
    bool is_short;            /* none can be accepted now */
    bool awaits_room;         /* is_full, and the socket reports when it has room */
    struct pollfd awaited[4]; /* as of the last wait, by enum awaited in connections.c */
    pthread_t thread;
};

/* Starts the thread, first with the connections that a former pool has left (listener_take). Raises
 * the limit of open files to what this process may set. `processes`: how many there are at most.
 * Returns 0, or -1 with errno. */
int connections_start(struct connections *connections, const struct listener *listener,
                      long processes);

/* Whether a connection with a request waits for a process. */
bool connections_have_waiting(const struct connections *connections);

/* From now on connections are only taken back from the processes. */
void connections_hold(struct connections *connections);

/* Ends the thread, when no process is left. Passes the connections to the service manager, if it
 * keeps descriptors for the next pool (FDSTORE in sd_notify(3)); else they are closed when this
 * process ends. */
void connections_leave(struct connections *connections);

#endif
