#include "worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

enum {
    EARLY_MS = 100,         /* a process that ends within this time has ended early */
    FAILED_EARLY_MS = 1000, /* the same for a process that fails */
    FIRST_DELAY_MS = 100,
    LAST_DELAY_MS = 5000,
};

static void delay_start(struct worker *worker, int64_t now) {
    worker->delay_ms = worker->delay_ms ? worker->delay_ms * 2 : FIRST_DELAY_MS;
    if (worker->delay_ms > LAST_DELAY_MS)
        worker->delay_ms = LAST_DELAY_MS;
    worker->start_at = now + worker->delay_ms;
}

void worker_start(struct worker *worker, char **program, const struct program_sockets *sockets,
                  struct parent *parent, int64_t now) {
    pid_t pid =
        parent ? parent_fork(parent, program, sockets) : program_start(program, sockets, -1);
    if (pid < 0) {
        delay_start(worker, now);
        return;
    }
    worker->pid = pid;
    worker->started_at = now;
    worker->kill_at = 0;
    worker->is_outdated = false;
    worker->is_resting = false;
}

/* SIGTERM is sent at each call, because a process that gets it between its check for signals and
 * accept(2) misses it. */
void worker_end(struct worker *worker, int64_t grace_ms, int64_t now) {
    if (!worker->pid)
        return;
    if (!worker->kill_at)
        worker->kill_at = now + grace_ms;
    kill(worker->pid, now < worker->kill_at ? SIGTERM : SIGKILL);
}

bool worker_record_end(struct worker *worker, const char *program, int status, int64_t now) {
    int64_t lived = now - worker->started_at;
    bool was_ended = worker->kill_at != 0;
    bool has_failed = status != 0 && !was_ended;
    worker->pid = 0;
    worker->start_at = now;
    if (has_failed)
        log_message(LOG_WARN, "%s: process ended with %s %d", program,
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (!was_ended && (lived < EARLY_MS || (has_failed && lived < FAILED_EARLY_MS)))
        delay_start(worker, now);
    else
        worker->delay_ms = 0;
    return !was_ended && !has_failed;
}

bool worker_is_runnable(const struct worker *worker) {
    char path[64], text[512];
    if (!worker->pid)
        return true;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)worker->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')'); /* the last one: the program's name may hold others */
    return state && strncmp(state, ") R", 3) == 0;
}
