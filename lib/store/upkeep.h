/* Looking after the database file: copies of it, and what is wrong with it. For the CLI. */
#ifndef SWITCHBOARD_STORE_UPKEEP_H
#define SWITCHBOARD_STORE_UPKEEP_H

#include "store/store.h"

/* Writes a copy of the database, as of one moment, to the new file `path` (mode 0600); writers are
 * not held up. It is written beside `path` under another name, checked whole, made durable and then
 * renamed, so that what is at `path` is always a whole database, ready to be put in place of the
 * original. STORE_CONFLICT: `path` exists already; nothing was written. */
enum store_result store_backup(struct store *store, const char *path);

/* When an operator must act. */
enum {
    DISK_NONE_MIB = 64,     /* less room: the gateway will soon refuse to store */
    COURIER_SILENT_S = 120, /* since the courier's last sign of life; it gives one every 5 s */
};

struct store_restoration {
    int version;     /* the schema version of what was restored */
    bool is_older;   /* than this program's: it must be migrated */
    bool has_former; /* there was a database, which is at `path.before-restore` now */
};

/* Makes the database at `path` hold what the database `file` does, checked from end to end before.
 * Where there is one already it stays the same file, and all of it is replaced in one transaction:
 * processes that have it open go on with the new content, and killed in between nothing has
 * changed. What it held at that moment is copied to `path.before-restore` first. Where there is
 * none it is made with its directory's owner and group. STORE_CONFLICT: `file` is no backup for it,
 * or a file is in the way; STORE_NOT_FOUND: there is no `file`. `*store` is for store_reason and
 * store_close only. */
enum store_result store_restore(const char *path, const char *file,
                                struct store_restoration *restoration, struct store **store);

struct store_inspection {
    bool is_ours;       /* it carries Switchboard's application id */
    bool is_wal;        /* readers do not block writers */
    const char *damage; /* the first complaint of SQLite's quick check; NULL: none */
    int64_t dangling;   /* rows that refer to rows that are not there; -1: not looked for */
    int64_t courier_at; /* the courier's last sign of life; INT64_MIN: none ever */
};

/* Reads the database for damage. `is_full`: all of it and every reference, minutes for a large one;
 * else only the tables that traffic does not make longer. */
enum store_result store_inspect(struct store *store, struct arena *arena, bool is_full,
                                struct store_inspection *inspection);

#endif
