#include "engine/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/file_identity.h"

enum {
    WAIT_S = 2,
    WRITE_BYTE = 0,
    SYNC_BYTE = 1,
    DRAIN_BYTE = 2
}; /* after WAIT_S: which byte is locked */

struct queue_counts {
    _Atomic unsigned long long database; /* identifies its file; a restored one is another file */
    _Atomic unsigned long long committed, synced;
    _Atomic unsigned long long stuck; /* synced + 1: the process that makes the next sync hangs */
};

/* The name of the queue's file; false: it is too long. */
static bool write_name(char name[4200], const char *path) {
    const int n = snprintf(name, 4200, "%s.queue", path);
    return n >= 0 && n < 4200;
}

/* Opens the queue's file of the database `path`, and creates it when it is missing. */
static int open_file(const char *path, mode_t mode) {
    char name[4200];
    if (!write_name(name, path))
        return -1;
    int file = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0 || errno != ENOENT)
        return file;
    file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode & 0666);
    if (file >= 0)
        fchmod(file, mode & 0666); /* the bits that the umask removed */
    return file;
}

/* An open file description lock: unlike a lock of the process, which SQLite uses, it is not lost
 * when another descriptor of the file is closed. */
static bool set_lock(int file, int command, short type, off_t byte) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(file, command, &lock) == 0;
}

static void on_alarm(int signal) {
    (void)signal;
}

static bool wait_for_lock(int file, off_t byte) {
    struct sigaction action = {.sa_handler = on_alarm}, before; /* without SA_RESTART */
    const struct itimerval limit = {.it_value.tv_sec = WAIT_S}, none = {0};
    struct itimerval timer_before; /* the caller's */
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &limit, &timer_before);
    bool locked = set_lock(file, F_OFD_SETLKW, F_WRLCK, byte);
    setitimer(ITIMER_REAL, &none, NULL);
    sigaction(SIGALRM, &before, NULL);
    setitimer(ITIMER_REAL, &timer_before, NULL);
    return locked;
}

static bool enter(int file, off_t byte) {
    return set_lock(file, F_OFD_SETLK, F_WRLCK, byte) || wait_for_lock(file, byte);
}

static void leave(int file, off_t byte) {
    set_lock(file, F_OFD_SETLK, F_UNLCK, byte);
}

/* Writes the counts instead of setting the file's size: access to a mapped page for which the disk
 * has no space would raise SIGBUS. */
static bool create_counts(int file) {
    const struct queue_counts none = {0};
    struct stat now;
    if (fstat(file, &now) == 0 && now.st_size >= (off_t)sizeof none)
        return true;
    if (!enter(file, SYNC_BYTE))
        return false;
    bool created =
        fstat(file, &now) == 0 && (now.st_size >= (off_t)sizeof none ||
                                   pwrite(file, &none, sizeof none, 0) == (ssize_t)sizeof none);
    leave(file, SYNC_BYTE);
    return created;
}

static struct queue_counts *map_counts(int file) {
    if (!create_counts(file))
        return NULL;
    void *counts =
        mmap(NULL, sizeof(struct queue_counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return counts == MAP_FAILED ? NULL : counts;
}

static bool counts_match(const struct queue *queue) {
    return queue->counts && atomic_load(&queue->counts->database) == queue->database;
}

/* Makes the counts those of this database. A process that still has the former database open makes
 * its own syncs from then on. */
static void claim_counts(struct queue *queue) {
    if (enter(queue->file, SYNC_BYTE)) {
        atomic_store(&queue->counts->database, queue->database);
        leave(queue->file, SYNC_BYTE);
    }
}

/* The file of the locks stays open, and the lock held, until the process ends. */
bool queue_drain(const char *path) {
    struct stat database;
    if (stat(path, &database) != 0)
        return false;
    int file = open_file(path, database.st_mode);
    if (file >= 0 && geteuid() == 0 && fchown(file, database.st_uid, database.st_gid) != 0)
        return false;
    return file >= 0 && enter(file, DRAIN_BYTE);
}

/* Locks for reading exclude a lock for writing, and not each other. */
bool queue_is_drained(const char *path) {
    char name[4200];
    int file = write_name(name, path) ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (file < 0)
        return false;
    bool is_free = set_lock(file, F_OFD_SETLK, F_RDLCK, DRAIN_BYTE) || errno != EAGAIN;
    close(file);
    return !is_free;
}

bool queue_has_drain(const struct queue *queue) {
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = DRAIN_BYTE, .l_len = 1};
    return queue->file >= 0 && fcntl(queue->file, F_OFD_GETLK, &lock) == 0 &&
           lock.l_type != F_UNLCK;
}

void queue_open(struct queue *queue, const char *path, const struct stat *database) {
    queue->file = open_file(path, database->st_mode);
    queue->counts = queue->file < 0 ? NULL : map_counts(queue->file);
    queue->database = file_number(database);
    if (queue->counts && !counts_match(queue))
        claim_counts(queue);
}

void queue_lock(const struct queue *queue) {
    if (queue->file >= 0)
        enter(queue->file, WRITE_BYTE);
}

void queue_unlock(const struct queue *queue) {
    if (queue->file >= 0)
        leave(queue->file, WRITE_BYTE);
}

/* Counts a commit that was just made and returns its number. After a power failure one counter may
 * be older than the other: the number must be above both. */
static unsigned long long count_commit(struct queue_counts *counts) {
    unsigned long long synced = atomic_load(&counts->synced);
    unsigned long long before = atomic_load(&counts->committed);
    while (!atomic_compare_exchange_weak(&counts->committed, &before,
                                         (before > synced ? before : synced) + 1))
        ;
    return (before > synced ? before : synced) + 1;
}

/* Takes the lock of syncs. A process that was stopped in its sync keeps it: the first one that has
 * waited in vain notes that for the others, until a sync with the lock ends. */
static bool enter_sync(int file, struct queue_counts *counts) {
    if (set_lock(file, F_OFD_SETLK, F_WRLCK, SYNC_BYTE))
        return true;
    const unsigned long long synced = atomic_load(&counts->synced);
    if (atomic_load(&counts->stuck) == synced + 1)
        return false;
    if (wait_for_lock(file, SYNC_BYTE))
        return true;
    if (atomic_load(&counts->synced) == synced)
        atomic_store(&counts->stuck, synced + 1);
    return false;
}

/* Makes one sync for all commits made so far. Called with the lock. */
static int sync_commits(struct queue_counts *counts, int (*sync)(void *), void *argument) {
    unsigned long long reached = atomic_load(&counts->committed);
    int failure = sync(argument);
    if (!failure)
        atomic_store(&counts->synced, reached);
    return failure;
}

int queue_sync(const struct queue *queue, int (*sync)(void *), void *argument) {
    if (!counts_match(queue))
        return sync(argument);
    unsigned long long mine = count_commit(queue->counts);
    if (!enter_sync(queue->file, queue->counts))
        return sync(argument);
    int failure = 0;
    if (!counts_match(queue))
        failure = sync(argument);
    else if (atomic_load(&queue->counts->synced) < mine)
        failure = sync_commits(queue->counts, sync, argument);
    leave(queue->file, SYNC_BYTE);
    return failure;
}

void queue_close(struct queue *queue) {
    if (queue->counts)
        munmap(queue->counts, sizeof *queue->counts);
    if (queue->file >= 0)
        close(queue->file);
    *queue = (struct queue){.file = -1};
}
