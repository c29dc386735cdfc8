/* What wakes the resident programs.
 *
 * The courier has a unix datagram socket, at the path that the configuration derives of run_dir. A
 * program that commits an event notifies the courier of its host through it. Without a notification
 * the event waits for the courier's next look at the database, at most one second later.
 *
 * The sender watches SQLite's write-ahead log with inotify(7), so that it learns at once that
 * another process may have committed, without a notification by that process. A commit appends to
 * the log just before other processes see it, and so does a transaction that is rolled back: a
 * change of the file is a reason to look at the database, within the next milliseconds.
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

/* The courier's end of the wake socket, or the sender's watch of the log. Only one courier at a
 * time is bound to the address of the socket; in all other couriers `fd` is -1. */
struct wake_listener {
    int fd; /* becomes readable when it is notified, or the log was written; -1: it is closed */
    struct stat id;
    char path[4096];
};

/* Returns a listener that is closed. */
struct wake_listener wake_closed(void);

/* Binds the listener to the wake socket of the configuration, unless it is bound to it already or
 * another courier is. To be called periodically: it takes over the address of a courier that has
 * ended, and binds again after the socket's file was removed. */
void wake_listen(struct wake_listener *listener, const struct config *config);

/* Reads all notifications from the socket. Returns whether there were any. */
bool wake_drain(struct wake_listener *listener);

/* Closes the listener and, if it was bound, removes the socket's file. */
void wake_close(struct wake_listener *listener);

/* --- the log --- */

/* Watches the log of the database file `database`, unless it does so already; NULL, a server: none.
 * To be called periodically: the log may appear later, or be replaced with its database. Returns
 * false with errno when the kernel refuses to watch a log that exists; then, and while there is
 * none, `fd` is -1. */
bool log_watch_open(struct wake_listener *watch, const char *database);

/* Reads all notifications. Returns whether there were any. */
bool log_watch_drain(const struct wake_listener *watch);

void log_watch_close(struct wake_listener *watch);

#endif
