#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

static char log_path[4096]; /* empty: log_to has not named a file yet */
static int log_fd = -1;
static bool is_to_stderr = true;
static char host[256]; /* empty: lines do not name it */

void log_to(const char *path) {
    is_to_stderr = !path || !*path;
    if (is_to_stderr || strcmp(path, log_path) == 0)
        return;
    log_reopen();
    snprintf(log_path, sizeof log_path, "%s", path);
}

void log_reopen(void) {
    if (log_fd > STDERR_FILENO)
        close(log_fd);
    log_fd = -1;
}

/* Programs of several users write the file, by the permission of their common group; the first one
 * creates it. */
static int open_file(void) {
    enum { MODE = 0660 };
    int fd = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, MODE);
    if (fd >= 0)
        fchmod(fd, MODE); /* the umask may have cleared bits */
    return fd;
}

void log_host(const char *name) {
    snprintf(host, sizeof host, "%s", name);
}

void log_open(void) {
    if (is_to_stderr || log_fd >= 0)
        return;
    log_fd = open_file();
    if (log_fd >= 0)
        return;
    dprintf(STDERR_FILENO, "switchboard: cannot open the log %s: %s; logging here instead\n",
            log_path, strerror(errno));
    log_fd = STDERR_FILENO;
}

int log_descriptor(void) {
    return is_to_stderr || log_fd < 0 ? STDERR_FILENO : log_fd;
}

static void write_line(struct slice line) {
    log_open();
    ssize_t written;
    do
        written = write(log_descriptor(), line.p, line.n);
    while (written < 0 && errno == EINTR);
}

void log_start(struct json_writer *line, struct arena *arena, enum log_level level) {
    static const char *const levels[] = {"info", "warn", "error"};
    json_write_start(line, arena);
    json_write_object(line, NULL);
    json_write_time(line, "ts", clock_now());
    json_write_text(line, "level", levels[level]);
    if (*host)
        json_write_text(line, "host", host);
}

void log_finish(struct json_writer *line) {
    json_write_end(line);
    buffer_add_char(&line->out, '\n');
    write_line(buffer_slice(&line->out));
}

void log_message(enum log_level level, const char *format, ...) {
    char message[1024];
    _Alignas(max_align_t) char room[16 * 1024]; /* no malloc: memory may be exhausted */
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    struct arena arena;
    arena_init_in(&arena, room, sizeof room);
    struct json_writer line;
    log_start(&line, &arena, level);
    json_write_text(&line, "message", message);
    log_finish(&line);
    arena_free(&arena);
}
