#include "base/signals.h"

#include <stddef.h>
#include <sys/signalfd.h>

void signals_block(sigset_t *before) {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, before);
}

void signals_restore(const sigset_t *before) {
    sigprocmask(SIG_SETMASK, before, NULL);
}

int signals_open(const int *list) {
    sigset_t set;
    sigemptyset(&set);
    for (; *list; list++)
        sigaddset(&set, *list);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
