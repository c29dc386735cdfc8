#include "base/process/signals.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/signalfd.h>

static bool is_blocked;    /* by signals_block_until_accept */
static sigset_t accepting; /* the mask without that block */

static void change_mask(int how, sigset_t *before) {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGIO);
    sigprocmask(how, &held, before);
}

void signals_block(sigset_t *before) {
    if (!is_blocked)
        change_mask(SIG_BLOCK, before);
}

void signals_restore(const sigset_t *before) {
    if (!is_blocked)
        sigprocmask(SIG_SETMASK, before, NULL);
}

void signals_block_until_accept(void) {
    change_mask(SIG_BLOCK, &accepting);
    is_blocked = true;
}

const sigset_t *signals_mask_to_accept(void) {
    return &accepting;
}

int signals_open(const int *list) {
    sigset_t set;
    sigemptyset(&set);
    for (; *list; list++)
        sigaddset(&set, *list);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
