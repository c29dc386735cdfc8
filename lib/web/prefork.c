#include "web/prefork.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process/executable.h"

enum { WAIT_US = 50 };

static void report(int pool, pid_t pid) {
    if (send(pool, &pid, sizeof pid, MSG_NOSIGNAL) < 0)
        _exit(0); /* the pool has ended */
}

/* Waits until this process is a child of the pool: until its parent `between` has ended. */
static void become_child_of(pid_t pool, pid_t between) {
    while (getppid() == between)
        usleep(WAIT_US);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != pool) /* the pool ended before prctl */
        _exit(0);
}

/* Forks twice: when the first child ends, the second one becomes a child of the pool. True in the
 * second child. */
static bool fork_process(int pool, pid_t pool_id) {
    const pid_t between = fork();
    if (between < 0)
        report(pool, -1);
    if (between) {
        waitpid(between, NULL, 0);
        return false;
    }
    const pid_t first = getpid(), second = fork();
    if (second < 0)
        report(pool, -1);
    if (second)
        _exit(0);
    become_child_of(pool_id, first);
    prctl(PR_SET_NAME, program_invocation_short_name);
    report(pool, getpid());
    return true;
}

void prefork(bool (*load)(void)) {
    const char *number = getenv(PREFORK_SOCKET);
    char order;
    if (!number)
        return;
    const int pool = (int)strtol(number, NULL, 10);
    const pid_t pool_id = getppid();
    unsetenv(PREFORK_SOCKET);
    fcntl(pool, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_NAME, PREFORK_NAME);
    executable_open();
    if (load)
        load();
    while (recv(pool, &order, 1, 0) == 1 && !executable_was_replaced())
        if (fork_process(pool, pool_id)) {
            close(pool);
            return;
        }
    _exit(0);
}
