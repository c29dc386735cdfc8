#include "program_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process/signals.h"
#include "web/prefork.h"

/* Exit statuses of a process that does not become the program, as a shell uses them. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

static void pass_orders(int orders) {
    char number[16];
    snprintf(number, sizeof number, "%d", orders);
    if (fcntl(orders, F_SETFD, 0) != 0 || setenv(PREFORK_SOCKET, number, 1) != 0)
        _exit(CANNOT_RUN);
}

/* Becomes the program; does not return. */
static void run_program(char **program, int listener, int orders, pid_t pool) {
    sigset_t none;
    sigemptyset(&none);
    signals_restore(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != pool) /* the pool ended before prctl */
        _exit(0);
    if (dup2(listener, STDIN_FILENO) < 0)
        _exit(CANNOT_RUN);
    if (orders >= 0)
        pass_orders(orders);
    execv(program[0], program);
    log_message(LOG_ERROR, "cannot run %s: %s", program[0], strerror(errno));
    _exit(NOT_FOUND);
}

pid_t program_start(char **program, int listener, int orders) {
    pid_t pool = getpid();
    pid_t pid = fork();
    if (pid == 0)
        run_program(program, listener, orders, pool);
    return pid;
}
