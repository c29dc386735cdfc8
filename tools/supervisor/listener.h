/* The unix socket on which the processes of a pool accept their connections. */
#ifndef SWITCHBOARD_LISTENER_H
#define SWITCHBOARD_LISTENER_H

#include <stdbool.h>
#include <sys/stat.h>

struct listener {
    int fd;
    const char *path; /* of the socket that listener_open created, owned by the caller; else NULL */
    struct stat id;   /* of that socket */
};

/* Takes the socket that the service manager has passed (sd_listen_fds(3)), and removes the
 * variables that announce it from the environment. Returns false when it passed none, or several.
 */
bool listener_take(struct listener *listener);

/* Creates a listening socket at `path`, accessible to its owner and group; a file there that no
 * process listens on is replaced. `path` must live as long as the listener. Returns 0, or -1 with
 * errno: EADDRINUSE when a process listens there. */
int listener_open(struct listener *listener, const char *path);

/* Limits the time that accept(2) waits, after which it fails with EAGAIN. Returns 0, or -1 with
 * errno. */
int listener_limit_wait(const struct listener *listener, long seconds);

/* Whether a connection waits to be accepted. */
bool listener_has_waiting(const struct listener *listener);

/* Removes the socket that listener_open created, unless another process has replaced it. */
void listener_remove(const struct listener *listener);

#endif
