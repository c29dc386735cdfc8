#include "delivery/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file_identity.h"

enum { PATH_SIZE = sizeof((struct wake_listener *)NULL)->path };

/* A socket and its address. The address of a unix socket has at most 107 bytes, and the path of the
 * directory may be longer. So the address is relative to an open descriptor of the directory. */
struct endpoint {
    int socket;
    int directory;
    struct sockaddr_un address;
};

static void endpoint_close(struct endpoint *end) {
    if (end->socket >= 0)
        close(end->socket);
    if (end->directory >= 0)
        close(end->directory);
}

/* Returns false, with nothing left open, when the directory is missing or the last part of the path
 * is too long. */
static bool endpoint_open(struct endpoint *end, const char *path) {
    const char *slash = strrchr(path, '/');
    char directory[PATH_SIZE];
    *end = (struct endpoint){.socket = -1, .directory = -1, .address.sun_family = AF_UNIX};
    if (!slash || strlen(path) >= PATH_SIZE)
        return false;
    snprintf(directory, sizeof directory, "%.*s/", (int)(slash - path), path);
    end->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    end->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int n = snprintf(end->address.sun_path, sizeof end->address.sun_path, "/proc/self/fd/%d/%s",
                     end->directory, slash + 1);
    if (end->directory >= 0 && end->socket >= 0 && n > 0 &&
        (size_t)n < sizeof end->address.sun_path)
        return true;
    endpoint_close(end);
    return false;
}

void wake_notify(const struct config *config) {
    struct endpoint end;
    if (!endpoint_open(&end, config->wake_socket))
        return;
    sendto(end.socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&end.address,
           sizeof end.address);
    endpoint_close(&end);
}

struct wake_listener wake_closed(void) {
    return (struct wake_listener){.fd = -1};
}

static enum wake_state find_at(const struct endpoint *end) {
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failed = probe < 0 ||
                 connect(probe, (const struct sockaddr *)&end->address, sizeof end->address) != 0;
    int error = failed ? errno : 0;
    if (probe >= 0)
        close(probe);
    errno = error;
    return !error                  ? WAKE_LISTENS
           : error == ENOENT       ? WAKE_MISSING
           : error == ECONNREFUSED ? WAKE_ABANDONED
                                   : WAKE_UNKNOWN;
}

enum wake_state wake_find(const struct config *config) {
    struct endpoint end;
    if (!endpoint_open(&end, config->wake_socket))
        return WAKE_MISSING;
    enum wake_state state = find_at(&end);
    int error = errno;
    endpoint_close(&end);
    errno = error;
    return state;
}

static bool bind_address(const struct endpoint *end) {
    mode_t mask = umask(0117); /* owner and group may notify */
    bool is_bound =
        bind(end->socket, (const struct sockaddr *)&end->address, sizeof end->address) == 0;
    umask(mask);
    return is_bound;
}

static bool is_ours(const struct wake_listener *listener) {
    return listener->fd >= 0 && file_is_at(&listener->id, listener->path);
}

void wake_listen(struct wake_listener *listener, const struct config *config) {
    const char *path = config->wake_socket;
    struct endpoint end;
    if (is_ours(listener) && strcmp(path, listener->path) == 0)
        return;
    wake_close(listener);
    if (!endpoint_open(&end, path))
        return;
    bool is_bound = bind_address(&end);
    if (!is_bound && errno == EADDRINUSE && find_at(&end) == WAKE_ABANDONED) {
        unlink(path);
        is_bound = bind_address(&end);
    }
    if (is_bound && stat(path, &listener->id) == 0) {
        snprintf(listener->path, sizeof listener->path, "%s", path);
        listener->fd = end.socket;
        end.socket = -1;
    }
    endpoint_close(&end);
}

bool wake_drain(struct wake_listener *listener) {
    char datagram;
    bool was_notified = false;
    while (listener->fd >= 0 && recv(listener->fd, &datagram, sizeof datagram, MSG_DONTWAIT) >= 0)
        was_notified = true;
    return was_notified;
}

void wake_close(struct wake_listener *listener) {
    if (is_ours(listener))
        unlink(listener->path);
    if (listener->fd >= 0)
        close(listener->fd);
    *listener = wake_closed();
}

/* --- the log --- */

bool log_watch_open(struct wake_listener *watch, const char *database) {
    struct stat found;
    const int n = database ? snprintf(watch->path, sizeof watch->path, "%s-wal", database) : -1;
    const bool has_path = n >= 0 && (size_t)n < sizeof watch->path;
    if (watch->fd >= 0 && has_path && file_is_at(&watch->id, watch->path))
        return true;
    log_watch_close(watch);
    if (!has_path || stat(watch->path, &found))
        return true;
    watch->id = found;
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd >= 0 && inotify_add_watch(watch->fd, watch->path, IN_MODIFY) >= 0)
        return true;
    const int error = errno;
    log_watch_close(watch);
    errno = error;
    return error == ENOENT;
}

bool log_watch_drain(const struct wake_listener *watch) {
    _Alignas(struct inotify_event) char events[4096];
    bool was_written = false;
    while (watch->fd >= 0 && read(watch->fd, events, sizeof events) > 0)
        was_written = true;
    return was_written;
}

void log_watch_close(struct wake_listener *watch) {
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
}
