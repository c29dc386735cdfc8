#include "parent.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MS = 10000 /* the time limit for the start of the program and a fork */ };

int parent_prepare(void) {
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool start(struct parent *parent, char **program, const struct program_sockets *sockets) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    pid_t pid = program_start(program, sockets, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *parent = (struct parent){.pid = pid, .orders = ends[0]};
    return true;
}

/* Returns the id of the forked process; 0: the parent has ended or does not answer. */
static pid_t order_process(const struct parent *parent) {
    struct pollfd answer = {.fd = parent->orders, .events = POLLIN};
    pid_t pid;
    if (send(parent->orders, "", 1, MSG_NOSIGNAL) != 1 || poll(&answer, 1, ANSWER_MS) <= 0 ||
        recv(parent->orders, &pid, sizeof pid, 0) != (ssize_t)sizeof pid)
        return 0;
    return pid;
}

pid_t parent_fork(struct parent *parent, char **program, const struct program_sockets *sockets) {
    if (parent->pid) {
        pid_t pid = order_process(parent);
        if (pid)
            return pid;
        parent_end(parent); /* its executable was replaced, or it was killed */
    }
    if (!start(parent, program, sockets))
        return -1;
    pid_t pid = order_process(parent);
    if (!pid)
        parent_end(parent);
    return pid ? pid : -1;
}

void parent_end(struct parent *parent) {
    if (!parent->pid)
        return;
    kill(parent->pid, SIGTERM);
    close(parent->orders);
    *parent = (struct parent){0};
}
