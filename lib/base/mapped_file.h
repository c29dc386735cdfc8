/* Tables in files that all processes of an installation map: a process maps the file before it is
 * confined, and then reads and writes without a system call. A file begins with a header by which
 * its kind is recognized; everything after it is zero in a new file. */
#ifndef SWITCHBOARD_MAPPED_FILE_H
#define SWITCHBOARD_MAPPED_FILE_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The header. Another layout of the file needs another version. */
struct mapped_header {
    char magic[8];
    uint32_t version;
    uint32_t slots;
};

/* A kind of table. */
struct mapped_kind {
    struct mapped_header header;
    size_t size;      /* of the file, bytes */
    const char *key;  /* of the configuration, that names the file */
    const char *lost; /* what does not happen without the file */
    const char *anew; /* what a new file means */
};

enum { MAPPED_FILE_PROBLEM_SIZE = 512 };

/* Maps the file at `path`, a table of the kind; creates it when it is missing. A file of another
 * kind is renamed to PATH.replaced, and a new one created. Returns NULL when it cannot be used, or
 * `path` is "". `problem` becomes a message for the log; empty without one. */
void *mapped_file_open(const char *path, const struct mapped_kind *kind,
                       char problem[MAPPED_FILE_PROBLEM_SIZE]);

/* A checksum of words, never 0, by which a reader sees whether a record is whole. */
uint64_t mapped_file_hash(const uint64_t *words, size_t count);

/* --- a file that is truncated while it is mapped ---
 *
 * Access to a page beyond the end of the file raises SIGBUS, and so does the first write to a page
 * when a copy-on-write file system is full. Such an access ends at MAPPED_ENTER, and the table is
 * not used again in this process. */

extern sigjmp_buf mapped_file_escape;
extern volatile sig_atomic_t mapped_file_is_inside;

/* Whether the table, a pointer, may be used until mapped_file_leave; sets it to NULL if not. A
 * macro, because sigsetjmp must be called by a function that has not returned. Without the signal
 * mask it makes no system call. */
#define MAPPED_FILE_ENTER(table)                                                                   \
    (sigsetjmp(mapped_file_escape, 0) == 0 ? (mapped_file_is_inside = 1, true)                     \
                                           : ((table) = NULL, false))

static inline void mapped_file_leave(void) {
    mapped_file_is_inside = 0;
}

#endif
