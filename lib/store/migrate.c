/* Creating the database, and bringing an older one up to date: from the CLI alone. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "store/schema.h"
#include "store/sqlite.h"

/* The numbered steps: `sql` brings version to - 1 to version `to`. schema.sql is what all of them
 * together lead to, and a test compares the two. */
static const struct {
    int to;
    const char *sql;
} steps[] = {
    {0, NULL},
};

/* An empty file with the mode that SQLite gives its -wal and -shm too. */
static void create_file(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0660);
    if (fd >= 0)
        close(fd);
}

static bool set_version(struct store *store, int version) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
    return sql_script(store, sql);
}

static void create_schema(struct store *store) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d", SCHEMA_APPLICATION_ID);
    if (sql_script(store, "PRAGMA journal_mode = WAL") && sql_begin(store) &&
        sql_script(store, schema_sql) && sql_script(store, sql))
        set_version(store, SCHEMA_VERSION);
}

static void copy_first(struct store *store, const char *path, int version) {
    static struct statement copy = {.sql = "VACUUM INTO ?1"};
    char target[4200];
    snprintf(target, sizeof target, "%s.before-v%d", path, version + 1);
    unlink(target); /* left by an attempt that failed later */
    sql_run(store, &copy, TEXT(target));
}

static void run_steps(struct store *store, int version) {
    if (!sql_begin(store))
        return;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].to > version && (!sql_script(store, steps[i].sql) ||
                                      !set_version(store, steps[i].to)))
            return;
}

enum store_result store_migrate(const char *path, int *from, int *to, struct store **out) {
    create_file(path);
    enum store_result result = sql_open(path, SQLITE_OPEN_READWRITE, out);
    if (result != STORE_OK)
        return result;
    struct store *store = *out;
    int64_t version = sql_integer(store, "PRAGMA user_version");
    int64_t tables = sql_integer(store, "SELECT count(*) FROM sqlite_master");
    int64_t application = sql_integer(store, "PRAGMA application_id");
    if (sql_failed(store))
        return sql_result(store);
    *from = (int)version;
    *to = SCHEMA_VERSION;
    if (version > SCHEMA_VERSION || (tables && application != SCHEMA_APPLICATION_ID))
        return STORE_UNAVAILABLE;
    if (version == SCHEMA_VERSION)
        return STORE_OK;
    if (!tables) {
        create_schema(store);
    } else {
        copy_first(store, path, (int)version);
        run_steps(store, (int)version);
    }
    return sql_commit(store);
}
