/* Backup, restoration and inspection of the database file, by the CLI. */
#ifndef SWITCHBOARD_STORE_UPKEEP_H
#define SWITCHBOARD_STORE_UPKEEP_H

#include "store/store.h"

/* Writes a consistent copy of the database to the new file `path` (mode 0600); writers are not
 * blocked. The copy is written next to `path` under another name, checked, synced and then renamed,
 * so that `path` is always a complete database that can replace the original. STORE_CONFLICT:
 * `path` exists already; nothing was written. */
enum store_result store_backup(struct store *store, const char *path);

/* Limits beyond which the operator must act. */
enum {
    DISK_NONE_MIB = 64,     /* with less free space the gateway soon cannot store anything */
    COURIER_SILENT_S = 120, /* since the courier's last heartbeat; it makes one every 5 s */
};

struct store_restoration {
    int version;     /* the schema version of the restored content */
    bool is_older;   /* older than this program's: it must be migrated */
    bool has_former; /* there was a database, which was copied to `path.before-restore` */
};

/* Replaces the content of the database at `path` with that of the database `file`, which is checked
 * completely before. An existing database stays the same file, and its content is replaced in one
 * transaction: processes that have it open continue with the new content, and a restoration that is
 * killed changes nothing. The former content is copied to `path.before-restore` first. A new
 * database gets its directory's owner and group. STORE_CONFLICT: `file` cannot be restored, or a
 * file is in the way; STORE_NOT_FOUND: no such `file`. `*store` is for store_reason and store_close
 * only. */
enum store_result store_restore(const char *path, const char *file,
                                struct store_restoration *restoration, struct store **store);

struct store_inspection {
    bool is_ours;       /* it has Switchboard's application id */
    bool is_wal;        /* readers do not block writers */
    const char *damage; /* the first error that SQLite's quick check reports; NULL: none */
    int64_t dangling;   /* rows with a reference to a missing row; -1: not checked */
    int64_t courier_at; /* the courier's last heartbeat; INT64_MIN: none */
};

/* Checks the database for damage. `is_full`: all tables and every reference, which takes minutes
 * for a large database; else only the tables that do not grow with traffic. */
enum store_result store_inspect(struct store *store, struct arena *arena, bool is_full,
                                struct store_inspection *inspection);

#endif
