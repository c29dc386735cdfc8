#include "web/next_connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process/descriptor.h"
#include "base/process/signals.h"

enum {
    LISTENER = STDIN_FILENO, /* FastCGI 1.0, 2.2 */
    RETRY_MS = 10,           /* between two attempts to give a connection back */
    RETRIES = 200,
};

static int pool = -1;    /* the socket to the pool; -1: none */
static int awaited = -1; /* the pool's socket and the kept connection (epoll(7)) */
static int watched = -1; /* the kept connection, if it is in `awaited` */
static int idle_ms = -1; /* the longest wait for a request; -1: without limit */
static bool is_crowded;  /* the last connection came from the pool: another one may wait there */

static int read_number(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text && *text ? (int)strtol(text, NULL, 10) : otherwise;
}

/* SIGTERM and SIGHUP are blocked except in the wait: libfcgi drops a connection when a signal
 * interrupts its system calls. EPOLLEXCLUSIVE: a connection wakes one of the waiting processes. */
void next_connection_open(void) {
    struct epoll_event input = {.events = EPOLLIN | EPOLLEXCLUSIVE};
    int socket = read_number(CONNECTIONS_SOCKET, -1);
    signals_block_until_accept();
    if (socket < 0) {
        fcntl(LISTENER, F_SETFL, O_NONBLOCK);
        return;
    }
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    input.data.fd = socket;
    awaited = epoll_create1(EPOLL_CLOEXEC);
    if (awaited < 0 || epoll_ctl(awaited, EPOLL_CTL_ADD, socket, &input) != 0) {
        log_message(LOG_ERROR, "cannot wait for connections of the pool");
        _exit(EXIT_FAILURE);
    }
    int idle_s = read_number(CONNECTIONS_IDLE, 0);
    idle_ms = idle_s > 0 ? idle_s * 1000 : -1;
    pool = socket;
}

bool next_connection_may_be_kept(void) {
    return pool >= 0;
}

/* Other processes may accept the connection first: accept(2) does not wait. */
static int accept_connection(bool (*must_end)(void)) {
    struct pollfd listener = {.fd = LISTENER, .events = POLLIN};
    while (!must_end()) {
        bool is_ready = ppoll(&listener, 1, NULL, signals_mask_to_accept()) > 0;
        int connection = is_ready ? accept4(LISTENER, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (connection >= 0 || (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED))
            return connection;
    }
    return -1;
}

/* Begins to watch the kept connection. False: it cannot be watched. */
static bool watch(int kept) {
    struct epoll_event input = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = kept};
    if (kept < 0 || kept == watched)
        return true;
    if (epoll_ctl(awaited, EPOLL_CTL_ADD, kept, &input) != 0)
        return false;
    watched = kept;
    return true;
}

/* Gives the connection to the pool, which then waits for the next request on it. Descriptors on the
 * way are limited for each user; the connection is closed when it cannot be given back for two
 * seconds. */
static void give_back(int connection) {
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000};
    int tries = 0;
    if (connection < 0)
        return;
    if (connection == watched)
        epoll_ctl(awaited, EPOLL_CTL_DEL, connection, NULL);
    watched = -1;
    while (descriptor_send(pool, "", connection, 0) != 0 && errno != EPIPE && ++tries < RETRIES)
        ppoll(NULL, 0, &pause, NULL);
    close(connection);
}

/* Returns the next connection that the pool passes, -1 when none waits. `*has_ended`: the pool has
 * ended. */
static int take(int kept, bool *has_ended) {
    int connection = descriptor_receive(pool, MSG_DONTWAIT);
    *has_ended = connection < 0 && errno == EPIPE;
    is_crowded = connection >= 0;
    if (connection >= 0)
        give_back(kept);
    return connection;
}

/* Waits for a connection of the pool and for input on the kept one. A connection of the pool comes
 * first: no other process was woken for it. The wait that fails without a signal ends the process.
 */
static int next_of_pool(int kept, bool (*must_end)(void)) {
    struct epoll_event found[2];
    bool has_ended = false;
    if (kept < 0)
        watched = -1; /* it was closed, which ends the watch */
    while (!has_ended && !must_end()) {
        int connection = is_crowded ? take(kept, &has_ended) : -1;
        if (connection >= 0)
            return connection;
        if (has_ended || !watch(kept))
            break;
        int count = epoll_pwait(awaited, found, 2, idle_ms, signals_mask_to_accept());
        bool has_request = false;
        for (int i = 0; i < count; i++) {
            if (found[i].data.fd == kept)
                has_request = true;
            else if (connection < 0)
                connection = take(kept, &has_ended);
        }
        if (connection >= 0)
            return connection;
        if (has_request)
            return kept;
        if (count == 0 || (count < 0 && errno != EINTR))
            break;
    }
    give_back(kept);
    return -1;
}

int next_connection_await(int kept, bool (*must_end)(void)) {
    return pool >= 0 ? next_of_pool(kept, must_end) : accept_connection(must_end);
}
