/* Backup, restoration and inspection of the database, by the CLI. */
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
    DISK_NONE_MIB = 64, /* with less free space the gateway soon cannot store anything */
};

struct store_restoration {
    int version;     /* the schema version of the restored content */
    bool is_older;   /* older than this program's: it must be migrated */
    bool has_former; /* there was a database, which was copied to `target.before-restore` */
};

/* Replaces the content of the database at `target` with that of the database `file`, which is
 * checked completely before. An existing database stays the same file, and its content is replaced
 * in one transaction: processes that have it open continue with the new content, and a restoration
 * that is killed changes nothing. The former content is copied to `target.before-restore` first. A
 * new database gets its directory's owner and group. STORE_CONFLICT: `file` cannot be restored, or
 * a file is in the way; STORE_NOT_FOUND: no such `file`. `*store` is for store_reason and
 * store_close only. */
enum store_result store_restore(const char *target, const char *file,
                                struct store_restoration *restoration, struct store **store);

/* A file or directory that the programs use for the database. */
struct store_file {
    const char *path;
    int access;          /* the needed rights, as for access(2) */
    bool may_be_missing; /* it is created when it is needed */
};

/* Lists the files and directories that the programs need for the database at `target`; none for a
 * database on a server. */
void store_list_files(const char *target, struct arena *arena, struct store_file **files,
                      size_t *count);

/* The result of one check, for the operator. */
struct store_finding {
    enum store_level { FINDING_OK, FINDING_WARNING, FINDING_FAULT } level;
    const char *what, *detail; /* the fixed name of the check; free text */
};

/* Checks what can be checked without opening the database, and what opening it may change. */
void store_examine(const char *target, struct arena *arena, struct store_finding **findings,
                   size_t *count);

/* Checks the settings of the database, and whether it is damaged. `is_full`: all tables and every
 * reference, which takes minutes for a large database; else only the tables that do not grow with
 * traffic. */
enum store_result store_inspect(struct store *store, struct arena *arena, bool is_full,
                                struct store_finding **findings, size_t *count);

/* Grants the role of the target `reader` the right to read all tables of the open store, which has
 * the rights of an owner. `*role` is its name, in `arena`; NULL: nothing was granted, since
 * `reader` names no other role or the database has no roles. */
enum store_result store_admit_reader(struct store *store, struct arena *arena, const char *reader,
                                     const char **role);

/* Checks the rights of a store that was opened with the target of the programs that only read. */
enum store_result store_inspect_reader(struct store *store, struct arena *arena,
                                       struct store_finding **findings, size_t *count);

/* The connections of a server. */
struct store_connections {
    int used, most; /* all, and how many the programs may have; most 0: there is no limit */
    bool is_pooled; /* they are those of a pooler, which many processes share */
};

enum store_result store_count_connections(struct store *store,
                                          struct store_connections *connections);

#endif
