/* Where writers stand in line for the database.
 *
 * SQLite lets one connection write at a time; the others it makes sleep for 1, 2, 5, 10 ... 100 ms
 * and try again, however soon the lock is free. Between our own processes that is too long: a commit
 * takes a fraction of a millisecond. So a transaction first takes a lock of ours on the file
 * DATABASE.queue, for which the kernel keeps a line and wakes the next at once; a process that dies
 * lets go of it. The database's own lock still decides: whoever does not stand in line, such as
 * sqlite3(1), is waited for as ever. */
#ifndef SWITCHBOARD_QUEUE_H
#define SWITCHBOARD_QUEUE_H

#include <sys/types.h>

/* Opens the queue of a database, making its file with the database's mode when it is missing.
 * Returns its descriptor, or -1 where it cannot be: then there is no line, and the calls below do
 * nothing. */
int queue_open(const char *database, mode_t mode);

/* Waits for its turn, but not for ever: after two seconds behind somebody who does not get on, it
 * goes ahead without, and SQLite's own time limit counts. Uses SIGALRM meanwhile. */
void queue_enter(int queue);

/* Lets the next one go. Nothing when it was not its turn. */
void queue_leave(int queue);

#endif
