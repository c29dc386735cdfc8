/* Backup, restoration and inspection of a SQLite database.
 *
 * The file of a restoration is checked completely before. An existing database stays the same file,
 * and its content is replaced in one transaction: processes that have it open continue with the new
 * content, and a restoration that is killed changes nothing. The former content is copied to
 * `target.before-restore` first. A new database gets its directory's owner and group.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_identity.h"
#include "engine/maintenance.h"
#include "engine/sqlite.h"

enum {
    PATH_SIZE = 4096 + 64,
    BUSY_LIMIT_MS = 10 * 1000,
};

/* The number of errors in the whole database; -1 on failure. */
static int64_t count_damage(struct store *store) {
    return sql_integer(store, "SELECT count(*) FROM pragma_integrity_check "
                              "WHERE integrity_check <> 'ok'");
}

/* Checks the whole copy and sets the journal mode, which a copy does not inherit, so that it can
 * replace the original. */
static enum store_result finish_copy(struct store *store, const char *path) {
    struct store *copy;
    enum store_result result = sql_open(path, SQLITE_OPEN_READWRITE, &copy);
    int64_t complaints = -1;
    if (result == STORE_OK) {
        complaints = count_damage(copy);
        sql_script(copy, "PRAGMA journal_mode = WAL");
        result = sql_result(copy);
    }
    if (result == STORE_OK && complaints)
        result = sql_refuse(store, STORE_CORRUPT, "the copy is damaged");
    else if (result != STORE_OK)
        sql_refuse(store, result, "the copy: %s", store_reason(copy));
    store_close(copy);
    return result;
}

static int sync_directory(const char *path) {
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "%s", path);
    int fd = open(dirname(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return failed;
}

/* Renames the finished copy, and never replaces another file. */
static enum store_result publish(struct store *store, const char *temporary, const char *path) {
    int failed = renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE);
    if (failed &&
        (errno == EINVAL || errno == ENOSYS)) { /* not supported by the file system, such as NFS */
        failed = link(temporary, path);
        if (!failed)
            unlink(temporary);
    }
    if (failed || sync_directory(path))
        return sql_refuse_file(store, "write", path);
    return STORE_OK;
}

static void remove_files(const char *path) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[PATH_SIZE + 16];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

static enum store_result backup(struct store *store, const char *path) {
    char temporary[PATH_SIZE];
    if (access(path, F_OK) == 0)
        return sql_refuse(store, STORE_CONFLICT, "%s exists already", path);
    /* not `file:...`, which SQLite would read as a URI */
    int n = snprintf(temporary, sizeof temporary, "%s%s.partial-%ld", *path == '/' ? "" : "./",
                     path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temporary)
        return sql_refuse(store, STORE_UNAVAILABLE, "the name is longer than 4096 bytes");
    enum store_result result = sql_copy(store, temporary);
    if (result == STORE_CONFLICT)
        return result; /* another process has created it */
    if (result == STORE_OK)
        result = finish_copy(store, temporary);
    if (result == STORE_OK)
        result = publish(store, temporary, path);
    if (result != STORE_OK)
        remove_files(temporary);
    return result;
}

/* --- restoring --- */

static enum store_result check_objects(struct store *source, const char *file, bool is_older) {
    struct arena arena;
    arena_init(&arena, 16 * 1024 * 1024, NULL);
    const char *difference = sqlite_compare_objects(source, is_older, &arena);
    enum store_result result = sql_result(source);
    if (result == STORE_OK && difference)
        result = sql_refuse(source, STORE_CONFLICT,
                            "%s %s: correct a copy of it with sqlite3 and restore that", file,
                            difference);
    arena_free(&arena);
    return result;
}

static enum store_result check_content(struct store *source, const char *file, int *version) {
    struct schema_id found;
    char reason[512];
    const bool is_ours = sql_read_schema_id(source, &found);
    enum store_result result = sql_result(source);
    if (result != STORE_OK)
        return result;
    if (!is_ours || found.version < 1)
        return sql_refuse(source, STORE_CONFLICT, "%s is not a database of this program", file);
    if (schema_refusal(&found, reason, sizeof reason))
        return sql_refuse(source, STORE_CONFLICT, "%s cannot be restored: %s", file, reason);
    const int64_t complaints = count_damage(source);
    if ((result = sql_result(source)) == STORE_OK && complaints)
        result = sql_refuse(source, STORE_CONFLICT, "%s is damaged", file);
    *version = (int)found.version;
    return result == STORE_OK ? check_objects(source, file, *version < schema_version) : result;
}

/* Opens the backup and checks all of it. A failure is about this file, not about the database. */
static enum store_result open_source(const char *file, const char *path, int *version,
                                     struct store **source) {
    struct stat found;
    const bool is_there = stat(file, &found) == 0;
    const int error = errno;
    enum store_result result = STORE_OK;
    if (!is_there || S_ISREG(found.st_mode)) /* opening a FIFO waits for a writer */
        result = sql_open(file, SQLITE_OPEN_READONLY, source);
    else
        result = sql_open(SQL_IN_MEMORY, SQLITE_OPEN_READWRITE, source);
    if (!is_there && error == ENOENT)
        return sql_refuse(*source, STORE_NOT_FOUND, "there is no file %s", file);
    if (is_there && !S_ISREG(found.st_mode))
        return sql_refuse(*source, STORE_CONFLICT, "%s is not a regular file", file);
    if (is_there && file_is_at(&found, path))
        return sql_refuse(*source, STORE_CONFLICT, "%s is the database itself", file);
    if (result == STORE_OK)
        result = check_content(*source, file, version);
    if (result == STORE_OK || result == STORE_CONFLICT)
        return result;
    char reason[512];
    snprintf(reason, sizeof reason, "%s", store_reason(*source));
    return sql_refuse(
        *source, STORE_CONFLICT, "the backup %s cannot be read, the database was not changed: %s%s",
        file, result == STORE_CORRUPT ? "the backup is damaged, or no SQLite database: " : "",
        reason);
}

/* Sets the owner and mode that `switchboard init` would have set. */
static enum store_result set_owner_and_mode(struct store *store, const char *made) {
    char name[PATH_SIZE];
    struct stat directory;
    snprintf(name, sizeof name, "%s", made);
    if (stat(dirname(name), &directory) != 0 || chmod(made, 0660) != 0 ||
        (geteuid() == 0 && chown(made, directory.st_uid, directory.st_gid) != 0))
        return sql_refuse_file(store, "set owner and mode of", made);
    return STORE_OK;
}

static enum store_result restore_new(struct store *source, const char *path) {
    char temporary[PATH_SIZE];
    snprintf(temporary, sizeof temporary, "%s.partial-%ld", path, (long)getpid());
    enum store_result result = sql_copy(source, temporary);
    if (result == STORE_CONFLICT)
        return result;
    if (result == STORE_OK)
        result = finish_copy(source, temporary);
    if (result == STORE_OK)
        result = set_owner_and_mode(source, temporary);
    if (result == STORE_OK)
        result = publish(source, temporary, path);
    if (result != STORE_OK)
        remove_files(temporary);
    return result;
}

/* The write-ahead log of a removed database would be applied to the new one. */
static bool has_old_wal(const char *path) {
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "%s-wal", path);
    return access(name, F_OK) == 0;
}

/* Copies the present content, as readers see it while the restoration holds the write lock. */
static enum store_result copy_former(struct store *store, const char *path) {
    char kept[PATH_SIZE];
    struct store *former;
    snprintf(kept, sizeof kept, "%s.before-restore", path);
    enum store_result result = sql_open(path, SQLITE_OPEN_READWRITE, &former);
    if (result == STORE_OK)
        result = backup(former, kept);
    if (result != STORE_OK)
        sql_refuse(store, result,
                   "the present database cannot be copied: %s. Nothing was changed; to restore "
                   "without the copy, stop the gateway and move the database and its -wal away",
                   store_reason(former));
    store_close(former);
    return result;
}

/* Replaces every page in one transaction, with SQLite's backup API; its first step takes the write
 * lock. */
static enum store_result replace_content(struct store *store, struct store *source,
                                         const char *path) {
    sql_script(store, "PRAGMA synchronous = FULL");
    sqlite3_backup *copy =
        sqlite3_backup_init(sql_handle(store), "main", sql_handle(source), "main");
    if (!copy)
        return sql_refuse(store, STORE_UNKNOWN, "%s", sqlite3_errmsg(sql_handle(store)));
    int64_t started = clock_monotonic();
    int code;
    while ((code = sqlite3_backup_step(copy, 1)) == SQLITE_BUSY || code == SQLITE_LOCKED)
        if (clock_monotonic() - started > BUSY_LIMIT_MS)
            break;
    enum store_result kept = STORE_OK;
    if (code == SQLITE_OK || code == SQLITE_DONE)
        kept = copy_former(store, path);
    if (kept == STORE_OK && code == SQLITE_OK)
        code = sqlite3_backup_step(copy, -1);
    int finished = sqlite3_backup_finish(copy);
    if (kept != STORE_OK)
        return kept;
    if (code == SQLITE_DONE && finished == SQLITE_OK)
        return STORE_OK;
    return sql_refuse(store, code == SQLITE_BUSY ? STORE_BUSY : STORE_UNKNOWN, "cannot restore: %s",
                      sqlite3_errstr(finished ? finished : code));
}

static enum store_result restore_existing(struct store *source, const char *path,
                                          struct store **store) {
    enum store_result result = sql_open(path, SQLITE_OPEN_READWRITE, store);
    if (result == STORE_OK) {
        sql_integer(*store, "PRAGMA schema_version");
        result = sql_result(*store);
    }
    if (result != STORE_OK) {
        char reason[1024];
        snprintf(reason, sizeof reason, "%s", store_reason(*store));
        return sql_refuse(*store, result,
                          "%s cannot be opened: %s. Stop the gateway, move the database and its "
                          "-wal away, and restore again",
                          path, reason);
    }
    result = replace_content(*store, source, path);
    if (result ==
        STORE_OK) /* empties the log, which has every page, if no reader needs it any more */
        sqlite_checkpoint(*store, SQLITE_CHECKPOINT_TRUNCATE);
    return result;
}

static enum store_result restore_from(struct store *source, const char *path,
                                      struct store_restoration *done, struct store **store) {
    if (done->has_former)
        return restore_existing(source, path, store);
    if (has_old_wal(path))
        return sql_refuse(source, STORE_CONFLICT,
                          "%s-wal is left from a database that was removed: move it away first",
                          path);
    return restore_new(source, path);
}

static enum store_result restore(const char *path, const char *file,
                                 struct store_restoration *restoration, struct store **store) {
    struct store *source, *target = NULL;
    restoration->has_former = access(path, F_OK) == 0;
    enum store_result result = open_source(file, path, &restoration->version, &source);
    *store = source;
    if (result != STORE_OK)
        return result;
    restoration->is_older = restoration->version < schema_version;
    restoration->is_refused =
        restoration->accept && !restoration->accept(source, restoration->context);
    if (restoration->is_refused)
        return STORE_CONFLICT;
    result = restore_from(source, path, restoration, &target);
    if (target) {
        *store = target;
        store_close(source);
    }
    return result;
}

/* --- inspection --- */

/* Returns the first error in the table and its indexes, or with "1" in the database; NULL: none. */
static const char *find_damage_of(struct store *store, struct arena *arena, const char *table) {
    const char *verdict =
        sql_text(store, arena, arena_printf(arena, "PRAGMA quick_check(%s)", table));
    return verdict && strcmp(verdict, "ok") != 0 ? verdict : NULL;
}

/* The same in the whole database, or in the small tables. */
static const char *find_damage(struct store *store, struct arena *arena, bool is_full) {
    const char *damage = is_full ? find_damage_of(store, arena, "1") : NULL;
    for (size_t i = 0; !is_full && !damage && i < SCHEMA_TABLES; i++)
        if (schema_tables[i].is_small)
            damage = find_damage_of(store, arena, schema_tables[i].name);
    return damage;
}

static void add_references(struct store *store, struct arena *arena, bool is_full,
                           struct buffer *findings) {
    if (!is_full) {
        finding_add(findings, FINDING_OK, "references",
                    "not checked; `switchboard doctor --full` checks them");
        return;
    }
    int64_t dangling = sql_integer(store, "SELECT count(*) FROM pragma_foreign_key_check");
    finding_add(findings, dangling ? FINDING_FAULT : FINDING_OK, "references",
                arena_printf(arena, "%lld rows refer to a missing row", (long long)dangling));
}

static enum store_result inspect(struct store *store, struct arena *arena, bool is_full,
                                 struct buffer *findings) {
    const char *journal = sql_text(store, arena, "PRAGMA journal_mode");
    bool is_wal = journal && strcmp(journal, "wal") == 0;
    const char *damage = find_damage(store, arena, is_full);
    const char *sound = is_full ? "ok, the whole database was read"
                                : "ok, only users, accounts and lines were read; "
                                  "`switchboard doctor --full` reads all";
    finding_add(findings, FINDING_OK, "database", "opens, with the schema version of this program");
    finding_add(findings, damage ? FINDING_FAULT : FINDING_OK, "integrity",
                damage ? damage : sound);
    const char *difference = sqlite_compare_objects(store, false, arena);
    finding_add(findings, difference ? FINDING_FAULT : FINDING_OK, "schema",
                difference
                    ? arena_printf(arena, "the database %s", difference)
                    : "tables, indexes and triggers are those of this program, and no other");
    add_references(store, arena, is_full, findings);
    finding_add(findings, is_wal ? FINDING_OK : FINDING_FAULT, "journal",
                is_wal ? "write-ahead log"
                       : "no write-ahead log, so readers block writers: run `switchboard init`");
    return sql_result(store);
}

/* Opening the database may shorten the write-ahead log. */
static void examine(const char *path, struct arena *arena, struct buffer *findings) {
    struct stat wal = {0};
    stat(arena_printf(arena, "%s-wal", path), &wal);
    bool is_long = wal.st_size > WAL_TOO_LONG;
    finding_add(findings, is_long ? FINDING_WARNING : FINDING_OK, "write-ahead log",
                arena_printf(arena, "%lld bytes%s", (long long)wal.st_size,
                             is_long
                                 ? ": no checkpoint has cut it; does the courier run, or does a "
                                   "backup or an open transaction still read?"
                                 : ""));
}

/* --- files --- */

static void list_files(const char *path, struct arena *arena, struct buffer *files) {
    const char *slash = strrchr(path, '/');
    const struct store_file all[] = {
        {arena_printf(arena, "%.*s", (int)(slash - path) + 1, path), R_OK | W_OK | X_OK, false},
        {path, R_OK | W_OK, true},
        {arena_printf(arena, "%s-wal", path), R_OK | W_OK, true},
        {arena_printf(arena, "%s-shm", path), R_OK | W_OK, true},
    };
    buffer_add(files, all, sizeof all);
}

const struct upkeep sqlite_upkeep = {
    .migrate = sqlite_migrate,
    .backup = backup,
    .restore = restore,
    .list_files = list_files,
    .examine = examine,
    .inspect = inspect,
};
