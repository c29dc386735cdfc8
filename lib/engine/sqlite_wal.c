/* A VFS over SQLite's own that notes which connection has the writer's lock, and keeps the frames
 * which are appended to the write-ahead log until the commit frame of the transaction, or until the
 * buffer is full, and writes them by one call.
 *
 * The bytes are in the file before anything depends on them: before any other call on the log,
 * before a lock is changed (a rollback ends with that), and before the header of the wal-index
 * names a commit, between whose two copies SQLite has a memory barrier. The result is returned by a
 * write, as if each frame had been written at its time. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sqlite.h"

enum {
    WRITE_LOCK = 0,     /* the first of the wal-index's locks */
    HEADER = 24,        /* bytes of a frame's header */
    COMMIT = 4,         /* where it has four bytes that are not all 0 in a commit frame */
    FRAME = 4096 + 24,  /* with a page of the usual size */
    BUFFER = 6 * FRAME, /* memory of every process that writes; a send has 12 frames */
};

static struct {
    sqlite3_file *log; /* the file of the bytes */
    sqlite3_int64 at;  /* of the first byte */
    int n;             /* 0: nothing is kept */
    bool is_header;    /* the last ones are a header; its page follows */
    bool is_commit;    /* the last header is that of a commit frame */
    unsigned char bytes[BUFFER];
} kept;

/* SQLite's functions for each kind of file, and these functions with some replaced. */
static const sqlite3_io_methods *log_base, *database_base;
static sqlite3_io_methods log_methods, database_methods;
static sqlite3_vfs *base, joining;

static const sqlite3_file *writer; /* the database whose connection has the writer's lock */

static int write_kept(void) {
    const int n = kept.n;
    kept.n = 0;
    kept.is_header = false;
    return n ? log_base->xWrite(kept.log, kept.bytes, n, kept.at) : SQLITE_OK;
}

static void keep(sqlite3_file *log, const void *bytes, int n, sqlite3_int64 at) {
    if (!kept.n) {
        kept.log = log;
        kept.at = at;
    }
    memcpy(kept.bytes + kept.n, bytes, (size_t)n);
    kept.n += n;
}

static int write_log(sqlite3_file *log, const void *bytes, int n, sqlite3_int64 at) {
    static const unsigned char none[4];
    if (kept.log != log || kept.at + kept.n != at || n > BUFFER - kept.n) {
        const int code = write_kept();
        if (code)
            return code;
    }
    if (n == HEADER) {
        keep(log, bytes, n, at);
        kept.is_header = true;
        kept.is_commit = memcmp((const char *)bytes + COMMIT, none, sizeof none) != 0;
        return SQLITE_OK;
    }
    if (!kept.is_header) {
        const int code = write_kept();
        return code ? code : log_base->xWrite(log, bytes, n, at);
    }
    keep(log, bytes, n, at);
    kept.is_header = false;
    return kept.is_commit ? write_kept() : SQLITE_OK;
}

static int read_log(sqlite3_file *log, void *bytes, int n, sqlite3_int64 at) {
    const int code = write_kept();
    return code ? code : log_base->xRead(log, bytes, n, at);
}

static int truncate_log(sqlite3_file *log, sqlite3_int64 size) {
    const int code = write_kept();
    return code ? code : log_base->xTruncate(log, size);
}

static int sync_log(sqlite3_file *log, int flags) {
    const int code = write_kept();
    return code ? code : log_base->xSync(log, flags);
}

static int size_log(sqlite3_file *log, sqlite3_int64 *size) {
    const int code = write_kept();
    return code ? code : log_base->xFileSize(log, size);
}

static int close_log(sqlite3_file *log) {
    const int code = write_kept(), closed = log_base->xClose(log);
    return code ? code : closed;
}

static int change_lock(sqlite3_file *database, int first, int n, int flags) {
    int code = write_kept();
    if (code && flags & SQLITE_SHM_LOCK)
        return code;
    code = database_base->xShmLock(database, first, n, flags);
    if (code == SQLITE_OK && first == WRITE_LOCK)
        writer = flags & SQLITE_SHM_LOCK ? database : NULL;
    return code;
}

bool sqlite_wal_is_writer(sqlite3 *db) {
    const sqlite3_file *database = NULL;
    return writer &&
           sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &database) == SQLITE_OK &&
           database == writer;
}

/* SQLite ends every transaction with a commit frame's page, or after a rollback with a lock, so
 * that nothing is kept here; it cannot be given an error. A process that ends here has not
 * committed. */
static void pass_barrier(sqlite3_file *database) {
    if (write_kept() != SQLITE_OK)
        abort();
    database_base->xShmBarrier(database);
}

/* Replaces functions of an open file. Files whose functions are others than those of the first file
 * of the kind stay as they are. */
static void replace(sqlite3_file *file, const sqlite3_io_methods **first,
                    const sqlite3_io_methods *replaced) {
    if (file->pMethods == *first)
        file->pMethods = replaced;
}

static void replace_in_database(sqlite3_file *database) {
    if (!database_base && database->pMethods->iVersion >= 2) {
        database_base = database->pMethods;
        database_methods = *database_base;
        database_methods.xShmLock = change_lock;
        database_methods.xShmBarrier = pass_barrier;
    }
    replace(database, &database_base, &database_methods);
}

static void replace_in_log(sqlite3_file *log) {
    if (!log_base) {
        log_base = log->pMethods;
        log_methods = *log_base;
        log_methods.xWrite = write_log;
        log_methods.xRead = read_log;
        log_methods.xTruncate = truncate_log;
        log_methods.xSync = sync_log;
        log_methods.xFileSize = size_log;
        log_methods.xClose = close_log;
    }
    replace(log, &log_base, &log_methods);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    const int code = base->xOpen(vfs, name, file, flags, out);
    if (code == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB)
        replace_in_database(file);
    if (code == SQLITE_OK && flags & SQLITE_OPEN_WAL && database_base)
        replace_in_log(file);
    return code;
}

int sqlite_wal_join_writes(void) {
    base = sqlite3_vfs_find(NULL);
    if (!base)
        return SQLITE_NOMEM;
    joining = *base;
    joining.zName = "switchboard";
    joining.xOpen = open_file;
    return sqlite3_vfs_register(&joining, 1);
}
