#include "store/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>

enum { PATIENCE_S = 2 };

int queue_open(const char *database, mode_t mode) {
    char path[4200];
    int n = snprintf(path, sizeof path, "%s.queue", database);
    if (n < 0 || (size_t)n >= sizeof path)
        return -1;
    int queue = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (queue >= 0 || errno != ENOENT)
        return queue;
    queue = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode & 0666);
    if (queue >= 0)
        fchmod(queue, mode & 0666); /* what the umask took away */
    return queue;
}

/* A lock of the open file, not of the process: SQLite's own would be lost with the latter. */
static int set_lock(int queue, int command, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};
    return fcntl(queue, command, &lock);
}

static void on_alarm(int signal) {
    (void)signal;
}

static void wait_in_line(int queue) {
    struct sigaction action = {.sa_handler = on_alarm}, before; /* no SA_RESTART: the wait ends */
    const struct itimerval patience = {.it_value.tv_sec = PATIENCE_S}, none = {0};
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &patience, NULL);
    set_lock(queue, F_OFD_SETLKW, F_WRLCK);
    setitimer(ITIMER_REAL, &none, NULL);
    sigaction(SIGALRM, &before, NULL);
}

void queue_enter(int queue) {
    if (queue >= 0 && set_lock(queue, F_OFD_SETLK, F_WRLCK) != 0)
        wait_in_line(queue);
}

void queue_leave(int queue) {
    if (queue >= 0)
        set_lock(queue, F_OFD_SETLK, F_UNLCK);
}
