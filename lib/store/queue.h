/* Where writers stand in line for the database, and share its trips to the disk.
 *
 * SQLite lets one connection write at a time; the others it makes sleep for 1, 2, 5, 10 ... 100 ms
 * and try again, however soon the lock is free. Between our own processes that is too long: a
 * commit takes a fraction of a millisecond. So a transaction first takes a lock of ours on the file
 * DATABASE.queue, for which the kernel keeps a line and wakes the next at once; a process that dies
 * lets go of it. The database's own lock still decides: whoever does not stand in line, such as
 * sqlite3(1), is waited for as ever.
 *
 * What is committed is made durable after the lock is left, and one trip to the disk serves all who
 * committed before it began: two numbers in the same file, mapped by everybody, say how many
 * commits there were and how many of them are on the disk. */
#ifndef SWITCHBOARD_QUEUE_H
#define SWITCHBOARD_QUEUE_H

#include <sys/stat.h>

struct queue {
    int file;                    /* -1: there is no line */
    struct queue_counts *counts; /* NULL: every commit makes its own trip */
    unsigned long long database; /* which the counts must be of */
};

/* Opens the queue of the database at `path`, whose file is `database`, making its own with the same
 * mode when it is missing. Where it cannot be, there is no line, nothing is shared, and the calls
 * below do without. */
void queue_open(struct queue *queue, const char *path, const struct stat *database);

/* Waits for its turn, but not for ever: after two seconds behind somebody who does not get on, it
 * goes ahead without, and SQLite's own time limit counts. Uses SIGALRM meanwhile. */
void queue_enter(const struct queue *queue);

/* Lets the next one go. Nothing when it was not its turn. */
void queue_leave(const struct queue *queue);

/* Returns when all that this process has committed is on the disk, by `sync` or by another
 * process's that began later than the commit. `sync` returns 0, or what this then returns. Waits
 * for another process no longer than queue_enter does. */
int queue_sync(const struct queue *queue, int (*sync)(void *), void *argument);

void queue_close(struct queue *queue);

#endif
