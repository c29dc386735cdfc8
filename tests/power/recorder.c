/* A library to be preloaded, which records what a program does to the files of a database, and what
 * it sends on sockets: POWER_RECORD names the record, POWER_DATABASE the database. It maps the
 * record before the program is confined; after that it makes no system call of its own. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "record.h"

enum { DESCRIPTORS = 65536 };

static struct record *record;
static char paths[RECORD_FILES][4096];
static unsigned char file_of[DESCRIPTORS]; /* 1 + the file; 0: another file */

/* POSIX lets a symbol's address become that of a function. */
#define NEXT(function)                                                                             \
    static __typeof__(&function) next;                                                             \
    if (!next)                                                                                     \
    *(void **)&next = dlsym(RTLD_NEXT, #function)

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "recorder: %s\n", what);
    abort();
}

__attribute__((constructor)) static void prepare(void) {
    const char *to = getenv("POWER_RECORD"), *of = getenv("POWER_DATABASE");
    if (!to || !of)
        return;
    snprintf(paths[RECORD_DATABASE], sizeof paths[0], "%s", of);
    snprintf(paths[RECORD_LOG], sizeof paths[0], "%s-wal", of);
    record = record_map(to);
    if (!record)
        give_up("the record cannot be opened");
}

static int find(const char *path) {
    for (int i = 0; record && i < RECORD_FILES; i++)
        if (strcmp(path, paths[i]) == 0)
            return i;
    return -1;
}

static int name_of(int file) {
    return record && file >= 0 && file < DESCRIPTORS ? file_of[file] - 1 : -1;
}

static int opened(int file, const char *path) {
    if (file >= 0 && file < DESCRIPTORS)
        file_of[file] = (unsigned char)(find(path) + 1);
    return file;
}

/* Begins an entry; NULL when the file is another one. */
static struct record_entry *begin(enum record_kind kind, int file, int64_t at, const void *bytes,
                                  size_t n) {
    const int name = name_of(file);
    return name < 0 ? NULL : record_add(record, kind, (uint32_t)name, at, bytes, n);
}

#define OPEN(function)                                                                             \
    int function(const char *path, int flags, ...) {                                               \
        NEXT(function);                                                                            \
        va_list values;                                                                            \
        va_start(values, flags);                                                                   \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(values, mode_t) : 0;            \
        va_end(values);                                                                            \
        return opened(next(path, flags, mode), path);                                              \
    }

#define PWRITE(function)                                                                           \
    ssize_t function(int file, const void *bytes, size_t n, off_t at) {                            \
        NEXT(function);                                                                            \
        struct record_entry *entry = begin(RECORD_WRITE, file, at, bytes, n);                      \
        const ssize_t written = next(file, bytes, n, at);                                          \
        record_end(record, entry);                                                                 \
        return written;                                                                            \
    }

#define TRUNCATE(function)                                                                         \
    int function(int file, off_t size) {                                                           \
        NEXT(function);                                                                            \
        struct record_entry *entry = begin(RECORD_TRUNCATE, file, size, NULL, 0);                  \
        const int failed = next(file, size);                                                       \
        record_end(record, entry);                                                                 \
        return failed;                                                                             \
    }

#define SYNC(function)                                                                             \
    int function(int file) {                                                                       \
        NEXT(function);                                                                            \
        struct record_entry *entry = begin(RECORD_SYNC, file, 0, NULL, 0);                         \
        const int failed = next(file);                                                             \
        if (!failed)                                                                               \
            record_end(record, entry);                                                             \
        return failed;                                                                             \
    }

/* SQLite writes by pwrite(2) only; a write that is not recorded would make the result worthless. */
ssize_t write(int file, const void *bytes, size_t n) {
    NEXT(write);
    if (name_of(file) >= 0)
        give_up("write(2) to a file of the database");
    return next(file, bytes, n);
}

/* Marks the word that begins with `head` in what is sent, as the fields KIND, WORD and an empty
 * one. */
static void mark_word(const char *kind, const char *head, const char *bytes, size_t n) {
    static const char of_word[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    char line[128];
    const char *found = memmem(bytes, n, head, strlen(head));
    size_t length = 0;
    while (found && found + length < bytes + n && length < 64 && found[length] &&
           strchr(of_word, found[length]))
        length++;
    const int size =
        snprintf(line, sizeof line, "%s\t%.*s\t", kind, (int)length, found ? found : "");
    if (found)
        record_add(record, RECORD_MARK, 0, 0, line, (uint64_t)size);
}

/* libcurl sends by send(2): an event to a receiver, a message to the platform. */
ssize_t send(int socket, const void *bytes, size_t n, int flags) {
    NEXT(send);
    if (record && n > 5 && memcmp(bytes, "POST ", 5) == 0)
        mark_word("delivering", "evt_", bytes, n);
    if (record)
        mark_word("posting", "power-", bytes, n);
    return next(socket, bytes, n, flags);
}

OPEN(open)
OPEN(open64)
PWRITE(pwrite)
PWRITE(pwrite64)
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)
SYNC(fsync)
SYNC(fdatasync)

int close(int file) {
    NEXT(close);
    if (file >= 0 && file < DESCRIPTORS)
        file_of[file] = 0;
    return next(file);
}

int unlink(const char *path) {
    NEXT(unlink);
    const int name = find(path), failed = next(path);
    if (name >= 0 && !failed)
        record_end(record, record_add(record, RECORD_REMOVE, (uint32_t)name, 0, NULL, 0));
    return failed;
}
