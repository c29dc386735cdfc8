#include "program_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process/signals.h"
#include "web/next_connection.h"
#include "web/prefork.h"

/* Exit statuses of a process that does not become the program, as a shell uses them. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

enum { FEWEST_FILES = 256, MOST_FILES = 65536 };

static struct rlimit files; /* the limit of open files of the programs; 0: as inherited */

long program_raise_files(void) {
    struct rlimit raised;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return FEWEST_FILES;
    raised = files;
    raised.rlim_cur = raised.rlim_max < MOST_FILES ? raised.rlim_max : MOST_FILES;
    if (raised.rlim_cur <= files.rlim_cur || setrlimit(RLIMIT_NOFILE, &raised) != 0)
        return (long)(files.rlim_cur < MOST_FILES ? files.rlim_cur : MOST_FILES);
    return (long)raised.rlim_cur;
}

/* Lets the program inherit a descriptor, with its number in a variable. */
static void pass(const char *variable, int fd) {
    char number[16];
    snprintf(number, sizeof number, "%d", fd);
    if (fcntl(fd, F_SETFD, 0) != 0 || setenv(variable, number, 1) != 0)
        _exit(CANNOT_RUN);
}

/* Becomes the program; does not return. */
static void run_program(char **program, const struct program_sockets *sockets, int orders,
                        pid_t pool) {
    sigset_t none;
    sigemptyset(&none);
    signals_restore(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != pool) /* the pool ended before prctl */
        _exit(0);
    if (dup2(sockets->listener, STDIN_FILENO) < 0)
        _exit(CANNOT_RUN);
    pass(CONNECTIONS_SOCKET, sockets->connections);
    if (orders >= 0)
        pass(PREFORK_SOCKET, orders);
    if (files.rlim_cur)
        setrlimit(RLIMIT_NOFILE, &files);
    execv(program[0], program);
    log_message(LOG_ERROR, "cannot run %s: %s", program[0], strerror(errno));
    _exit(NOT_FOUND);
}

pid_t program_start(char **program, const struct program_sockets *sockets, int orders) {
    pid_t pool = getpid();
    pid_t pid = fork();
    if (pid == 0)
        run_program(program, sockets, orders, pool);
    return pid;
}
