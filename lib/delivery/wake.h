/* The courier's alarm clock: a unix datagram socket beside the database, `<database>.wake`. Whoever
 * commits an event rings it; whoever forgets costs a second, for the courier looks by itself too.
 */
#ifndef SWITCHBOARD_WAKE_H
#define SWITCHBOARD_WAKE_H

#include <sys/stat.h>

#include "base/config.h"

/* Tells the courier that there is something to deliver. Never waits and never fails: without a
 * courier, or with one that has been told already, nothing happens. Call it after the commit. */
void courier_wake(const struct config *config);

/* The courier's end. One courier at a time has the name; `fd` is -1 for the others. */
struct wake_listener {
    int fd; /* becomes readable when rung */
    struct stat id;
    char path[4096];
};

/* An end that has no name yet. */
struct wake_listener wake_closed(void);

/* Takes the name beside `database` when nobody has it, or keeps it. Call it now and then: a name
 * that its owner left, or that somebody removed, is taken. */
void wake_listen(struct wake_listener *listener, const char *database);

/* Takes all rings off the socket. Returns whether there were any. */
bool wake_drain(struct wake_listener *listener);

/* Gives the name up. */
void wake_close(struct wake_listener *listener);

#endif
