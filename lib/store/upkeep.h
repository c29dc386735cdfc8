/* What the CLI alone does with a whole database: creation, migration, backup, restoration,
 * inspection, and moving its content to another one. */
#ifndef SWITCHBOARD_STORE_UPKEEP_H
#define SWITCHBOARD_STORE_UPKEEP_H

#include "engine/maintenance.h"
#include "store/store.h"

/* Creates the database at `target` (a file with mode 0660 less the umask), or migrates an older
 * one; a file is copied to `target.before-vN` before. `*from` and `*to` are schema versions;
 * `*from` 0: it was created. */
enum store_result store_migrate(const char *target, int *from, int *to, struct store **store);

/* Writes a consistent copy of the database to the new file `path` (mode 0600); writers are not
 * blocked. The copy is written next to `path` under another name, checked, synced and then renamed,
 * so that `path` is always a complete database that can replace the original. STORE_CONFLICT:
 * `path` exists already; nothing was written. */
enum store_result store_backup(struct store *store, const char *path);

/* Replaces the content of the database at `target` with that of the database `file`, in one
 * transaction (engine/sqlite_upkeep.c). `*restoration` is zero, but for `accept` and its context.
 * STORE_CONFLICT: `file` cannot be restored, or was refused, or a file is in the way;
 * STORE_NOT_FOUND: no such `file`. `*store` is for store_reason and store_close only. */
enum store_result store_restore(const char *target, const char *file,
                                struct store_restoration *restoration, struct store **store);

/* Lists the files and directories that the programs need for the database at `target`; none for a
 * database on a server. */
void store_list_files(const char *target, struct arena *arena, struct store_file **files,
                      size_t *count);

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

enum store_result store_count_connections(struct store *store,
                                          struct store_connections *connections);

/* --- moving all content to a database of any kind, while programs use the source --- */

/* The result of a move. Its strings are in the arena. */
struct store_move {
    struct store_moved_table {
        const char *name;
        int64_t rows;
        const char *hash; /* 64 hexadecimal digits: the XOR of the SHA-256 of all rows */
    } * tables;
    size_t table_count;
    int64_t rows;       /* of all tables */
    int64_t changes;    /* rows that changed between the copy and the stop */
    int64_t copy_ms;    /* the duration of the copy, during which programs use the source */
    int64_t drain_ms;   /* how long new requests were refused before the stop */
    int64_t stop_ms;    /* how long writers waited then */
    bool was_done;      /* an interrupted call had moved everything: the fields above are 0 */
    const char *reason; /* of a failure, for the operator; without the password of a target */
};

/* Moves all rows of `source` to `target`, which may be missing (a file) or empty, and must have no
 * rows (moving.c has the steps). A call that fails or is killed leaves the source as it was, or
 * marked as moved to a complete target: repeat it with the same arguments. STORE_CONFLICT: the
 * databases or their content do not allow it. Other failures are those of the database named in
 * `reason`. */
enum store_result store_move(const char *source, const char *target, struct arena *arena,
                             int64_t now, struct store_move *move);

#endif
