#include "store/upkeep.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

#include "store/copy.h"
#include "store/housekeeping.h"

enum { PATH_SIZE = 4096 + 32 };

static enum store_result refuse_file(struct store *store, const char *did, const char *path) {
    int reason = errno;
    enum store_result result = reason == EEXIST                       ? STORE_CONFLICT
                               : reason == ENOSPC || reason == EDQUOT ? STORE_FULL
                                                                      : STORE_UNAVAILABLE;
    return sql_refuse(store, result, "cannot %s %s: %s", did, path, strerror(reason));
}

enum store_result sql_copy(struct store *store, const char *path) {
    static struct statement copy = {.sql = "VACUUM INTO ?1"};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); /* SQLite keeps the mode */
    if (fd < 0)
        return refuse_file(store, "create", path);
    sql_run(store, &copy, TEXT(path));
    enum store_result result = sql_result(store);
    if (result == STORE_OK && fsync(fd) != 0)
        result = refuse_file(store, "flush", path);
    close(fd);
    return result;
}

/* Checks the copy from end to end and gives it the journal mode that a copy does not inherit, so
 * that it can be put in place as it is. */
static enum store_result finish_copy(struct store *store, const char *path) {
    struct store *copy;
    enum store_result result = sql_open(path, SQLITE_OPEN_READWRITE, &copy);
    int64_t complaints = -1;
    if (result == STORE_OK) {
        complaints = sql_integer(copy, "SELECT count(*) FROM pragma_integrity_check "
                                       "WHERE integrity_check <> 'ok'");
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

/* Gives the finished copy its name, never taking it from another file. */
static enum store_result publish(struct store *store, const char *temporary, const char *path) {
    int failed = renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE);
    if (failed &&
        (errno == EINVAL || errno == ENOSYS)) { /* a file system without it, such as NFS */
        failed = link(temporary, path);
        if (!failed)
            unlink(temporary);
    }
    if (failed || sync_directory(path))
        return refuse_file(store, "write", path);
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

enum store_result store_backup(struct store *store, const char *path) {
    char temporary[PATH_SIZE];
    if (access(path, F_OK) == 0)
        return sql_refuse(store, STORE_CONFLICT, "%s exists already", path);
    /* never a bare `file:...`, which SQLite would read as a URI */
    int n = snprintf(temporary, sizeof temporary, "%s%s.partial-%ld", *path == '/' ? "" : "./",
                     path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temporary)
        return sql_refuse(store, STORE_UNAVAILABLE, "the name is longer than 4096 bytes");
    enum store_result result = sql_copy(store, temporary);
    if (result == STORE_CONFLICT)
        return result; /* somebody else's */
    if (result == STORE_OK)
        result = finish_copy(store, temporary);
    if (result == STORE_OK)
        result = publish(store, temporary, path);
    if (result != STORE_OK)
        remove_files(temporary);
    return result;
}

/* The first complaint about the whole database, or about the tables whose rows are as many as
 * customers, with their indexes; NULL: none. */
static const char *find_damage(struct store *store, struct arena *arena, bool is_full) {
    static const char *const whole[] = {"PRAGMA quick_check(1)", NULL};
    static const char *const small[] = {"PRAGMA quick_check(user)",
                                        "PRAGMA quick_check(api_token)",
                                        "PRAGMA quick_check(plan)",
                                        "PRAGMA quick_check(account)",
                                        "PRAGMA quick_check(line)",
                                        "PRAGMA quick_check(webhook)",
                                        NULL};
    for (const char *const *check = is_full ? whole : small; *check; check++) {
        const char *verdict = sql_text(store, arena, *check);
        if (verdict && strcmp(verdict, "ok") != 0)
            return verdict;
    }
    return NULL;
}

enum store_result store_inspect(struct store *store, struct arena *arena, bool is_full,
                                struct store_inspection *inspection) {
    const char *journal = sql_text(store, arena, "PRAGMA journal_mode");
    int64_t beat_at;
    enum store_result result = store_find_beat(store, "courier", &beat_at);
    if (result != STORE_OK)
        return result;
    *inspection = (struct store_inspection){
        .is_ours = sql_integer(store, "PRAGMA application_id") == SCHEMA_APPLICATION_ID,
        .is_wal = journal && strcmp(journal, "wal") == 0,
        .damage = find_damage(store, arena, is_full),
        .dangling =
            is_full ? sql_integer(store, "SELECT count(*) FROM pragma_foreign_key_check") : -1,
        .courier_at = beat_at,
    };
    return sql_result(store);
}
