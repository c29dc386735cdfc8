/* The web server's signals to end must not come between what was done outside and the record of it
 * here. It waits seconds before it kills. */
#ifndef SWITCHBOARD_HOLD_H
#define SWITCHBOARD_HOLD_H

#include <signal.h>

/* Holds SIGTERM and SIGHUP back; `*before` is what signals_release restores. */
void signals_hold(sigset_t *before);

/* They come now, if they came. */
void signals_release(const sigset_t *before);

#endif
