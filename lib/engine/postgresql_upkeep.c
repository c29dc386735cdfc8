/* What the CLI does with a database on a PostgreSQL server. */
#include "engine/maintenance.h"
#include "engine/postgresql.h"

static enum store_result backup(struct store *store, const char *path) {
    (void)path;
    return sql_refuse(store, STORE_UNAVAILABLE,
                      "the database is on a server: back it up with pg_basebackup and its archive "
                      "of the write-ahead log, or with pg_dump");
}

static enum store_result restore(const char *target, const char *file,
                                 struct store_restoration *restoration, struct store **out) {
    (void)file;
    (void)restoration;
    enum store_result result = postgresql_connect(target, true, out);
    return result != STORE_OK
               ? result
               : sql_refuse(*out, STORE_UNAVAILABLE,
                            "the database is on a server: restore it with the server's programs, "
                            "pg_restore or a base backup");
}

static void list_files(const char *target, struct arena *arena, struct buffer *files) {
    (void)target, (void)arena, (void)files;
}

static void examine(const char *target, struct arena *arena, struct buffer *findings) {
    (void)target, (void)arena, (void)findings;
}

const struct upkeep postgresql_upkeep = {
    .migrate = postgresql_migrate,
    .admit_reader = postgresql_admit_reader,
    .backup = backup,
    .restore = restore,
    .list_files = list_files,
    .examine = examine,
    .inspect = postgresql_inspect,
    .inspect_reader = postgresql_inspect_reader,
    .count_connections = postgresql_count_connections,
};
