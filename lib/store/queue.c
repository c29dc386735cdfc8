#include "store/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { PATIENCE_S = 2, TO_WRITE = 0, TO_SYNC = 1 }; /* the latter two: which byte is locked */

struct queue_counts {
    _Atomic unsigned long long database; /* the file that they are of: a restored one is another */
    _Atomic unsigned long long committed, synced;
};

static int open_file(const char *path, mode_t mode) {
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0 || errno != ENOENT)
        return file;
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode & 0666);
    if (file >= 0)
        fchmod(file, mode & 0666); /* what the umask took away */
    return file;
}

/* A lock of the open file, not of the process: SQLite's own would be lost with the latter. */
static bool set_lock(int file, int command, short type, off_t byte) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(file, command, &lock) == 0;
}

static void on_alarm(int signal) {
    (void)signal;
}

static bool wait_in_line(int file, off_t byte) {
    struct sigaction action = {.sa_handler = on_alarm}, before; /* no SA_RESTART: the wait ends */
    const struct itimerval patience = {.it_value.tv_sec = PATIENCE_S}, none = {0};
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &patience, NULL);
    bool locked = set_lock(file, F_OFD_SETLKW, F_WRLCK, byte);
    setitimer(ITIMER_REAL, &none, NULL);
    sigaction(SIGALRM, &before, NULL);
    return locked;
}

static bool enter(int file, off_t byte) {
    return set_lock(file, F_OFD_SETLK, F_WRLCK, byte) || wait_in_line(file, byte);
}

static void leave(int file, off_t byte) {
    set_lock(file, F_OFD_SETLK, F_UNLCK, byte);
}

/* Written, not cut to size: a page that the disk has no room for could not be mapped. */
static bool make_counts(int file) {
    const struct queue_counts none = {0};
    struct stat now;
    if (fstat(file, &now) == 0 && now.st_size >= (off_t)sizeof none)
        return true;
    if (!enter(file, TO_SYNC))
        return false;
    bool made =
        fstat(file, &now) == 0 && (now.st_size >= (off_t)sizeof none ||
                                   pwrite(file, &none, sizeof none, 0) == (ssize_t)sizeof none);
    leave(file, TO_SYNC);
    return made;
}

static struct queue_counts *map_counts(int file) {
    if (!make_counts(file))
        return NULL;
    void *counts =
        mmap(NULL, sizeof(struct queue_counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return counts == MAP_FAILED ? NULL : counts;
}

static bool counts_are_ours(const struct queue *queue) {
    return queue->counts && atomic_load(&queue->counts->database) == queue->database;
}

/* Whoever still has the file that was there before counts for itself from now on. */
static void claim_counts(struct queue *queue) {
    if (enter(queue->file, TO_SYNC)) {
        atomic_store(&queue->counts->database, queue->database);
        leave(queue->file, TO_SYNC);
    }
}

void queue_open(struct queue *queue, const char *path, const struct stat *database) {
    char name[4200];
    int n = snprintf(name, sizeof name, "%s.queue", path);
    queue->file = n < 0 || (size_t)n >= sizeof name ? -1 : open_file(name, database->st_mode);
    queue->counts = queue->file < 0 ? NULL : map_counts(queue->file);
    queue->database = (unsigned long long)database->st_ino ^ (unsigned long long)database->st_dev
                                                                 << 40;
    if (queue->counts && !counts_are_ours(queue))
        claim_counts(queue);
}

void queue_enter(const struct queue *queue) {
    if (queue->file >= 0)
        enter(queue->file, TO_WRITE);
}

void queue_leave(const struct queue *queue) {
    if (queue->file >= 0)
        leave(queue->file, TO_WRITE);
}

/* The number of a commit that was just made. The counts may be those of before a power failure, one
 * older than the other: a number must be above both. */
static unsigned long long count_commit(struct queue_counts *counts) {
    unsigned long long synced = atomic_load(&counts->synced);
    unsigned long long before = atomic_load(&counts->committed);
    while (!atomic_compare_exchange_weak(&counts->committed, &before,
                                         (before > synced ? before : synced) + 1))
        ;
    return (before > synced ? before : synced) + 1;
}

/* Under the lock: one trip to the disk for all that is committed by now. */
static int sync_for_all(struct queue_counts *counts, int (*sync)(void *), void *argument) {
    unsigned long long reached = atomic_load(&counts->committed);
    int failure = sync(argument);
    if (!failure)
        atomic_store(&counts->synced, reached);
    return failure;
}

int queue_sync(const struct queue *queue, int (*sync)(void *), void *argument) {
    if (!counts_are_ours(queue))
        return sync(argument);
    unsigned long long mine = count_commit(queue->counts);
    if (!enter(queue->file, TO_SYNC))
        return sync(argument);
    int failure = 0;
    if (!counts_are_ours(queue))
        failure = sync(argument);
    else if (atomic_load(&queue->counts->synced) < mine)
        failure = sync_for_all(queue->counts, sync, argument);
    leave(queue->file, TO_SYNC);
    return failure;
}

void queue_close(struct queue *queue) {
    if (queue->counts)
        munmap(queue->counts, sizeof *queue->counts);
    if (queue->file >= 0)
        close(queue->file);
    *queue = (struct queue){.file = -1};
}
