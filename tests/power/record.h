/* The record of what processes did to a database's files, in the order in which it happened, and of
 * what their clients saw. One file, mapped by all processes, which only grows. */
#ifndef POWER_RECORD_H
#define POWER_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

enum { RECORD_DATABASE, RECORD_LOG, RECORD_FILES }; /* the database, its write-ahead log */

enum record_kind {
    RECORD_WRITE = 1,
    RECORD_TRUNCATE, /* to `at` */
    RECORD_SYNC,
    RECORD_REMOVE, /* the file was unlinked */
    RECORD_MARK,   /* a line of text of a client */
};

/* What one call did. `ended` is the length of the record when the call returned; 0 while it runs,
 * or when its process was killed. So a sync covers the writes that ended before the sync began. */
struct record_entry {
    _Atomic uint32_t kind; /* 0: not written yet */
    uint32_t file;
    int64_t at;
    uint64_t n; /* bytes that follow, rounded up to 8 for the next entry */
    _Atomic uint64_t ended;
};

struct record {
    _Atomic uint64_t used; /* bytes, this head included */
    _Atomic uint64_t is_full;
};

enum { RECORD_SIZE = 256 << 20 }; /* the file has holes; Apache limits the memory of a program */

/* Maps the file for appending; NULL on an error. */
struct record *record_map(const char *path);

/* Appends an entry with a copy of the bytes. NULL when the record is full. */
struct record_entry *record_add(struct record *record, enum record_kind kind, uint32_t file,
                                int64_t at, const void *bytes, uint64_t n);

/* Notes that the call of the entry has returned. */
void record_end(struct record *record, struct record_entry *entry);

#endif
