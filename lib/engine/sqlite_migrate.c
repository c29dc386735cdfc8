/* Creating the database, and migrating an older one; by the CLI only. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "engine/driver.h"
#include "engine/sqlite.h"

/* Creates an empty file; SQLite gives its -wal and -shm the same mode. */
static void create_file(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0660);
    if (fd >= 0)
        close(fd);
}

/* Reads the schema version, 0 for an empty file. Latches a refusal of the database of another
 * program. */
static bool read_version(struct store *store, int *version) {
    struct schema_id found;
    const bool is_ours = sql_read_schema_id(store, &found);
    const int64_t tables = sql_integer(store, "SELECT count(*) FROM sqlite_master");
    if (store->failure)
        return false;
    *version = (int)found.version;
    if ((found.version != 0) != (tables != 0) || (found.version && !is_ours))
        store->failure = sql_refuse(store, STORE_UNAVAILABLE,
                                    "it belongs to another program and was not changed");
    else
        store->failure = schema_check(store, &found, true);
    return !store->failure;
}

/* The check before the first change, in one snapshot: another process may be creating it. */
static enum store_result check(struct store *store, int *version) {
    sql_script(store, "BEGIN");
    read_version(store, version);
    return sql_commit(store);
}

/* Copies the database as it is before the migration. The connection that holds the write lock
 * cannot copy it. Latches a failure. */
static bool copy_first(struct store *store, const char *path, int version) {
    struct store *reader;
    char target[4200];
    snprintf(target, sizeof target, "%s.before-v%d", path, version + 1);
    unlink(target); /* left by a migration that failed */
    enum store_result result = sql_open(path, SQLITE_OPEN_READWRITE, &reader);
    if (result == STORE_OK)
        result = sql_copy(reader, target);
    if (result != STORE_OK)
        store->failure =
            sql_refuse(store, result, "the copy before the migration: %s", store_reason(reader));
    store_close(reader);
    return !store->failure;
}

/* Switches to the write-ahead log, where readers and writers do not block each other. The switch
 * happens outside of transactions, and SQLite does not wait for another process that switches, too.
 */
static enum store_result switch_to_wal(struct store *store) {
    enum store_result result = STORE_BUSY;
    for (int i = 0; i < 100 && result == STORE_BUSY; i++) {
        if (i)
            nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
        sql_script(store, "PRAGMA journal_mode = WAL");
        result = sql_result(store);
    }
    return result;
}

/* Migrates with the write lock: another process may have migrated since the check, and none writes
 * between the copy and the migration. */
static enum store_result migrate(struct store *store, const char *path, int *from) {
    if (sql_begin(store) && read_version(store, from) && *from < schema_version &&
        (*from == 0 ? sql_script(store, schema_sql)
                    : copy_first(store, path, *from) && schema_run_steps(store, *from, sql_script)))
        sql_write_schema_id(store);
    return sql_commit(store);
}

enum store_result sqlite_migrate(const char *path, int *from, int *to, struct store **out) {
    create_file(path);
    enum store_result result = sql_open(path, SQLITE_OPEN_READWRITE, out);
    *to = schema_version;
    if (result == STORE_OK)
        result = check(*out, from);
    if (result == STORE_OK)
        result = switch_to_wal(*out);
    return result == STORE_OK ? migrate(*out, path, from) : result;
}
