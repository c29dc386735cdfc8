/* A lock that orders the writers of a database, and a sync (fsync) that several commits share.
 *
 * SQLite lets one connection write at a time; the others sleep for 1, 2, 5, 10 ... 100 ms and try
 * again, even when the lock is released at once. That is too long between processes of this
 * project, whose commits take a fraction of a millisecond. So each transaction first takes a lock
 * on the file DATABASE.queue. The kernel queues the waiting processes, wakes the next one at once,
 * and releases the lock of a process that dies. The database's own lock still decides: a process
 * without the queue lock, such as sqlite3(1), is waited for as usual.
 *
 * A commit is made durable after the lock is released. One sync serves all commits made before it
 * began: two counters in the same file, which every process maps, hold the number of commits and
 * the number of commits that are on disk.
 *
 * A third lock is held by the process that is about to move the content of the database.
 */
#ifndef SWITCHBOARD_QUEUE_H
#define SWITCHBOARD_QUEUE_H

#include <stdbool.h>
#include <sys/stat.h>

struct queue {
    int file;                    /* -1: there is no queue */
    struct queue_counts *counts; /* NULL: every commit makes its own sync */
    unsigned long long database; /* identifies the database; the counts must be of it */
};

/* Opens the queue of the database at `path`, whose file is `database`; creates the queue's file
 * with the same mode when it is missing. On failure there is no queue, syncs are not shared, and
 * the calls below still work. */
void queue_open(struct queue *queue, const char *path, const struct stat *database);

/* Takes the queue lock. After waiting for two seconds it returns without the lock, and SQLite's own
 * busy timeout applies. Uses SIGALRM while it waits. */
void queue_lock(const struct queue *queue);

/* Releases the queue lock. Does nothing if it is not held. */
void queue_unlock(const struct queue *queue);

/* Returns when all commits of this process are on disk: by `sync`, or by the sync of another
 * process that began after the commit. `sync` returns 0 or an error, which queue_sync then returns.
 * Waits for another process no longer than queue_lock does, and not again for one that was waited
 * for in vain. */
int queue_sync(const struct queue *queue, int (*sync)(void *), void *argument);

void queue_close(struct queue *queue);

/* Makes queue_is_drained true until this process ends: programs then begin no request that may
 * write, and end those that run. Returns false if the lock's file cannot be used. */
bool queue_drain(const char *path);

/* Whether a process has called queue_drain for the database at `path`. */
bool queue_is_drained(const char *path);

/* The same for an open queue; false if there is none. */
bool queue_has_drain(const struct queue *queue);

#endif
