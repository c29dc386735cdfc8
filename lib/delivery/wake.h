/* The courier's wake socket: a unix datagram socket, at the path that the configuration derives of
 * run_dir. A program that commits an event notifies the courier of its host through it. Without a
 * notification the event waits for the courier's next look at the
 * database, at most one second later.
 */
#ifndef SWITCHBOARD_WAKE_H
#define SWITCHBOARD_WAKE_H

#include <sys/stat.h>

#include "base/config.h"

/* Notifies the courier that there is an event to deliver. To be called after the commit. Does not
 * block and does not fail: without a courier, or when notifications are queued already, it does
 * nothing. */
void wake_notify(const struct config *config);

/* What is at the address of the courier. */
enum wake_state {
    WAKE_MISSING,   /* no socket, or no directory */
    WAKE_LISTENS,   /* a courier is bound to it */
    WAKE_ABANDONED, /* the socket of a courier that has ended */
    WAKE_UNKNOWN,   /* anything else, with errno */
};

/* Looks at the address of the configuration, and notifies no courier. */
enum wake_state wake_find(const struct config *config);

/* The courier's end of the wake socket. Only one courier at a time is bound to the address; in all
 * other couriers `fd` is -1. */
struct wake_listener {
    int fd; /* becomes readable when the courier is notified */
    struct stat id;
    char path[4096];
};

/* Returns a listener that is not bound. */
struct wake_listener wake_closed(void);

/* Binds the listener to the wake socket of the configuration, unless it is bound to it already or
 * another courier is. To be called periodically: it takes over the address of a courier that has
 * ended, and binds again after the socket's file was removed. */
void wake_listen(struct wake_listener *listener, const struct config *config);

/* Reads all notifications from the socket. Returns whether there were any. */
bool wake_drain(struct wake_listener *listener);

/* Closes the listener and, if it was bound, removes the socket's file. */
void wake_close(struct wake_listener *listener);

#endif
