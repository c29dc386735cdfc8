#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file_identity.h"

enum {
    BACKLOG = 1024,
    PASSED_FD = 3,        /* SD_LISTEN_FDS_START */
    REFUSED_MODES = 0117, /* a umask: the socket gets mode 0660 */
};

bool listener_take(struct listener *listener) {
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    if (!pid || !count || strtol(pid, NULL, 10) != getpid() || strcmp(count, "1") != 0)
        return false;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    fcntl(PASSED_FD, F_SETFD, FD_CLOEXEC);
    *listener = (struct listener){.fd = PASSED_FD};
    return true;
}

/* Returns 1 when a process accepts connections at the address, 0 when none does, -1 on failure. */
static int is_listening(const struct sockaddr_un *address) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    bool is_accepted = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    close(fd);
    return is_accepted;
}

static int bind_and_listen(int fd, const struct sockaddr_un *address) {
    mode_t before = umask(REFUSED_MODES);
    int failed = bind(fd, (const struct sockaddr *)address, sizeof *address);
    umask(before);
    return failed ? -1 : listen(fd, BACKLOG);
}

int listener_open(struct listener *listener, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    int is_used = is_listening(&address);
    if (is_used > 0)
        errno = EADDRINUSE;
    if (is_used)
        return -1;
    unlink(path); /* the socket of a killed pool */
    *listener = (struct listener){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (listener->fd < 0 || bind_and_listen(listener->fd, &address) != 0 ||
        stat(path, &listener->id) != 0)
        return -1;
    listener->path = path;
    return 0;
}

int listener_limit_wait(const struct listener *listener, long seconds) {
    const struct timeval limit = {.tv_sec = seconds};
    return setsockopt(listener->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

bool listener_has_waiting(const struct listener *listener) {
    struct pollfd polled = {.fd = listener->fd, .events = POLLIN};
    return poll(&polled, 1, 0) > 0;
}

void listener_remove(const struct listener *listener) {
    if (listener->path && file_is_at(&listener->id, listener->path))
        unlink(listener->path);
}
