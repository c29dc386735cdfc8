#include "delivery/log_watch.h"

#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/file_identity.h"

struct log_watch log_watch_closed(void) {
    return (struct log_watch){.fd = -1};
}

bool log_watch_open(struct log_watch *watch, const char *database) {
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

bool log_watch_drain(const struct log_watch *watch) {
    _Alignas(struct inotify_event) char events[4096];
    bool was_written = false;
    while (watch->fd >= 0 && read(watch->fd, events, sizeof events) > 0)
        was_written = true;
    return was_written;
}

void log_watch_close(struct log_watch *watch) {
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
}
