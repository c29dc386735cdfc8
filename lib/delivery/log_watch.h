/* Watches SQLite's write-ahead log with inotify(7), so that a resident process learns at once that
 * another process may have committed, without a notification by that process. A commit appends to
 * the log just before other processes see it, and so does a transaction that is rolled back: a
 * change of the file is a reason to look at the database, within the next milliseconds.
 */
#ifndef SWITCHBOARD_DELIVERY_LOG_WATCH_H
#define SWITCHBOARD_DELIVERY_LOG_WATCH_H

#include <stdbool.h>
#include <sys/stat.h>

struct log_watch {
    int fd; /* becomes readable when the log was written; -1: it is not watched */
    struct stat id;
    char path[4096];
};

/* Returns a watch of no file. */
struct log_watch log_watch_closed(void);

/* Watches the log of the database file `database`, unless it does so already; NULL, a server: none.
 * To be called periodically: the log may appear later, or be replaced with its database. Returns
 * false with errno when the kernel refuses to watch a log that exists; then, and while there is
 * none, `fd` is -1. */
bool log_watch_open(struct log_watch *watch, const char *database);

/* Reads all notifications. Returns whether there were any. */
bool log_watch_drain(const struct log_watch *watch);

void log_watch_close(struct log_watch *watch);

#endif
