
#include "disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "random.h"

enum {
    WRITES = 8192,
    BYTES = 96 * 1024 * 1024, /* of the pending writes: old and new content */
    SECTOR = 512,
    FILES = 2,
};

struct write {
    int file; /* 0: the database, 1: its log; -1: synced */
    int64_t at, size_before;
    size_t n, old_n;    /* old_n: bytes of the file that were there before */
    size_t bytes;       /* the old content, then the new one, in `bytes` */
    bool is_truncation; /* to `at`; the old content is what follows `at` */
};

static struct pending {
    size_t writes, used;
    ino_t inode[FILES];
    struct write list[WRITES];
    char bytes[BYTES];
} * pending;

static const char *database;
static bool is_lying;

void disk_lies(bool lies) {
    is_lying = lies;
}

static const char *path_of(int file, char path[4096]) {
    snprintf(path, 4096, "%s%s", database, file ? "-wal" : "");
    return path;
}

void disk_prepare(const char *path) {
    database = path;
    pending = mmap(NULL, sizeof *pending, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pending == MAP_FAILED)
        abort();
}

void disk_watch(void) {
    char path[4096];
    struct stat found;
    for (int i = 0; i < FILES; i++)
        pending->inode[i] = stat(path_of(i, path), &found) == 0 ? found.st_ino : 0;
}

/* Returns which of the files it is; -1: none. The log may be created anew. */
static int which(int file, struct stat *found) {
    char path[4096];
    struct stat log;
    if (!pending || !pending->inode[0] || fstat(file, found) != 0)
        return -1;
    if (found->st_ino == pending->inode[0])
        return 0;
    if (found->st_ino != pending->inode[1] && stat(path_of(1, path), &log) == 0)
        pending->inode[1] = log.st_ino;
    return found->st_ino == pending->inode[1] ? 1 : -1;
}

static void forget(int file) {
    bool is_any = false;
    for (size_t i = 0; i < pending->writes; i++) {
        if (pending->list[i].file == file)
            pending->list[i].file = -1;
        is_any |= pending->list[i].file >= 0;
    }
    if (!is_any)
        pending->writes = pending->used = 0;
}

void disk_sync(int file) {
    struct stat found;
    const int name = which(file, &found);
    if (name >= 0 && !is_lying)
        forget(name);
}

/* Without room the oldest writes reach the disk. */
static struct write *add(int name, size_t bytes) {
    if (pending->writes == WRITES || pending->used + bytes > BYTES) {
        forget(0);
        forget(1);
    }
    struct write *write = &pending->list[pending->writes++];
    *write = (struct write){.file = name, .bytes = pending->used};
    pending->used += bytes;
    return write;
}

static size_t read_old(int file, char *bytes, size_t n, int64_t at) {
    const ssize_t got = pread(file, bytes, n, at);
    return got > 0 ? (size_t)got : 0;
}

void disk_write(int file, const void *bytes, size_t n, int64_t at) {
    struct stat found;
    const int name = which(file, &found);
    if (name < 0)
        return;
    struct write *write = add(name, 2 * n);
    write->at = at;
    write->n = n;
    write->size_before = found.st_size;
    write->old_n = read_old(file, pending->bytes + write->bytes, n, at);
    memcpy(pending->bytes + write->bytes + n, bytes, n);
}

void disk_truncate(int file, int64_t size) {
    struct stat found;
    const int name = which(file, &found);
    if (name < 0 || found.st_size < size)
        return;
    const size_t n = (size_t)(found.st_size - size);
    struct write *write = add(name, n);
    write->is_truncation = true;
    write->at = size;
    write->size_before = found.st_size;
    write->old_n = read_old(file, pending->bytes + write->bytes, n, size);
}

static void put(int file, const char *bytes, size_t n, int64_t at) {
    if (n && syscall(SYS_pwrite64, file, bytes, n, at) != (ssize_t)n)
        abort();
}

static void undo(const struct write *write, int file) {
    put(file, pending->bytes + write->bytes, write->old_n, write->at);
    if (syscall(SYS_ftruncate, file, write->size_before) != 0)
        abort();
}

static void repeat(const struct write *write, int file, size_t n) {
    if (write->is_truncation && syscall(SYS_ftruncate, file, write->at) != 0)
        abort();
    if (!write->is_truncation)
        put(file, pending->bytes + write->bytes + write->n, n, write->at);
}

/* Undoes all pending writes, then repeats those that reached the disk, in their order. A file
 * system orders a truncation and what follows it. */
static size_t fail_file(int name, uint64_t *random) {
    char path[4096];
    size_t lost = 0;
    const int file = open(path_of(name, path), O_RDWR | O_CLOEXEC);
    if (file < 0)
        return 0;
    for (size_t i = pending->writes; i-- > 0;)
        if (pending->list[i].file == name)
            undo(&pending->list[i], file);
    const unsigned kept = random_below(random, 101);
    bool is_over = false;
    for (size_t i = 0; i < pending->writes; i++) {
        const struct write *write = &pending->list[i];
        if (write->file != name)
            continue;
        const bool is_kept = !is_over && random_chance(random, kept);
        is_over |= write->is_truncation && !is_kept;
        lost += !is_kept;
        if (is_kept)
            repeat(write, file, write->n);
        else if (!is_over && write->n > SECTOR && random_chance(random, 20))
            repeat(write, file, SECTOR * (1 + random_below(random, (unsigned)(write->n / SECTOR))));
    }
    close(file);
    forget(name);
    return lost;
}

/* The wal-index is rebuilt from the log. */
size_t disk_fail_power(uint64_t *random) {
    char path[4096];
    size_t lost = 0;
    for (int name = 0; name < FILES; name++)
        lost += fail_file(name, random);
    snprintf(path, sizeof path, "%s-shm", database);
    unlink(path);
    disk_watch();
    return lost;
}
