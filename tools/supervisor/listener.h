/* The unix socket on which the processes of a pool accept their connections. */
#ifndef SWITCHBOARD_LISTENER_H
#define SWITCHBOARD_LISTENER_H

#include <stdbool.h>
#include <sys/stat.h>

struct listener {
    int fd;
    const char *path; /* of the socket that listener_open created, owned by the caller; else NULL */
    struct stat id;   /* of that socket */
    int passed, passed_end; /* the range of the descriptors that the service manager has passed:
                               this socket, and connections of the former pool */
};

/* Takes the socket that the service manager has passed (sd_listen_fds(3)), and the connections that
 * it kept (descriptor_store.h); removes the variables that announce them from the environment.
 * Returns false when it passed no socket, or several. */
bool listener_take(struct listener *listener);

/* Creates a listening socket at `path`, accessible to its owner and group; a file there that no
 * process listens on is replaced. `path` must live as long as the listener. Returns 0, or -1 with
 * errno: EADDRINUSE when a process listens there. */
int listener_open(struct listener *listener, const char *path);

/* Removes the socket that listener_open created, unless another process has replaced it. */
void listener_remove(const struct listener *listener);

#endif
