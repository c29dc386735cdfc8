#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file_identity.h"
#include "descriptor_store.h"

enum {
    BACKLOG = 1024,
    PASSED_FD = 3,        /* SD_LISTEN_FDS_START */
    REFUSED_MODES = 0117, /* a umask: the socket gets mode 0660 */
};

/* Cuts the first name off a list with colons. Returns whether it is that of a kept connection. */
static bool cut_kept(const char **names) {
    size_t n = *names ? strcspn(*names, ":") : 0;
    bool is_kept =
        n == strlen(DESCRIPTOR_STORE_NAME) && strncmp(*names, DESCRIPTOR_STORE_NAME, n) == 0;
    if (*names)
        *names += n + ((*names)[n] == ':');
    return is_kept;
}

static void forget_passed(void) {
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
}

bool listener_take(struct listener *listener) {
    const char *pid = getenv("LISTEN_PID"), *text = getenv("LISTEN_FDS");
    const char *names = getenv("LISTEN_FDNAMES");
    int sockets = 0, count = text ? (int)strtol(text, NULL, 10) : 0;
    if (!pid || strtol(pid, NULL, 10) != getpid())
        return false;
    *listener = (struct listener){.fd = -1, .passed = PASSED_FD, .passed_end = PASSED_FD + count};
    for (int fd = PASSED_FD; fd < listener->passed_end; fd++) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        if (cut_kept(&names))
            continue;
        listener->fd = fd;
        sockets++;
    }
    forget_passed();
    return sockets == 1;
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

void listener_remove(const struct listener *listener) {
    if (listener->path && file_is_at(&listener->id, listener->path))
        unlink(listener->path);
}
