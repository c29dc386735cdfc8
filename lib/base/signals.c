#include "base/signals.h"

#include <stddef.h>

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
