/* Creating and inspecting a database on a PostgreSQL server. */
#include "base/clock.h"
#include "store/postgresql.h"
#include "store/schema.h"
#include "store/upkeep.h"

enum { OLDEST_SERVER = 150000, CLOCK_WARNING_MS = 2000 };

/* The number of the advisory lock of a migration: the bytes "SWBD". */
#define LOCK_MIGRATION "SELECT pg_advisory_xact_lock(1398227524)"

#define OUR_TABLES "to_regclass('schema_version') IS NOT NULL"

static enum store_result check_server(struct store *store) {
    if (PQserverVersion(postgresql_handle(store)) < OLDEST_SERVER)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "the server has version %d, this program needs PostgreSQL 15 or newer",
                          PQserverVersion(postgresql_handle(store)) / 10000);
    if (!postgresql_integer(store, "SELECT CAST(getdatabaseencoding() = 'UTF8' AS int)"))
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "the database has another encoding than UTF8: create it with "
                          "ENCODING 'UTF8'");
    return sql_result(store);
}

/* Creates the schema, or checks its version; within a transaction and under the lock. */
static enum store_result create(struct store *store, int *from) {
    const bool has_schema = postgresql_integer(store, "SELECT CAST(" OUR_TABLES " AS int)") == 1;
    if (has_schema) {
        *from = (int)postgresql_integer(store, "SELECT version FROM schema_version");
        return sql_result(store);
    }
    *from = 0;
    if (postgresql_integer(store, "SELECT count(*) FROM pg_tables "
                                  "WHERE schemaname = current_schema()") > 0)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it belongs to another program and was not changed");
    char version[128];
    snprintf(version, sizeof version,
             "CREATE TABLE schema_version (version INTEGER NOT NULL); "
             "INSERT INTO schema_version VALUES (%d)",
             SCHEMA_VERSION);
    if (postgresql_script(store, schema_postgresql_sql))
        postgresql_script(store, version);
    return sql_result(store);
}

/* The schema is created as a whole or not at all: definitions are part of the transaction. */
static enum store_result migrate(const char *target, int *from, int *to, struct store **out) {
    enum store_result result = postgresql_connect(target, false, out);
    *from = 0;
    *to = SCHEMA_VERSION;
    if (result != STORE_OK || (result = check_server(*out)) != STORE_OK)
        return result;
    struct store *store = *out;
    postgresql_script(store, "BEGIN");
    postgresql_script(store, LOCK_MIGRATION);
    if ((result = sql_result(store)) == STORE_OK)
        result = create(store, from);
    if (result != STORE_OK) {
        PQclear(PQexec(postgresql_handle(store), "ROLLBACK"));
        return result;
    }
    postgresql_script(store, "COMMIT");
    if ((result = sql_result(store)) == STORE_OK && *from > SCHEMA_VERSION)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has schema version %d, made by a newer program; this one supports %d",
                          *from, SCHEMA_VERSION);
    return result;
}

static enum store_result backup(struct store *store, const char *path) {
    (void)path;
    return sql_refuse(store, STORE_UNAVAILABLE,
                      "the database is on a server: back it up with pg_basebackup and its archive "
                      "of the write-ahead log, or with pg_dump");
}

static enum store_result restore(const char *target, const char *file,
                                 struct store_restoration *restoration, struct store **out) {
    (void)file;
    *restoration = (struct store_restoration){0};
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

/* --- inspection --- */

static void add(struct buffer *findings, enum store_level level, const char *what,
                const char *detail) {
    const struct store_finding finding = {level, what, detail};
    buffer_add(findings, &finding, sizeof finding);
}

static void add_role(struct store *store, struct arena *arena, struct buffer *findings) {
    const bool is_standby =
        postgresql_integer(store, "SELECT CAST(pg_is_in_recovery() AS int)") == 1;
    add(findings, is_standby ? FINDING_FAULT : FINDING_OK, "database",
        arena_printf(arena, "opens, with the schema version of this program; PostgreSQL %s, %s",
                     postgresql_text(store, arena, "SHOW server_version"),
                     is_standby ? "a standby, which takes no writes: name the primary too"
                                : "the primary"));
}

/* A role without pg_read_all_stats sees no states of the standbys. */
static void add_standbys(struct store *store, struct arena *arena, struct buffer *findings) {
    const char *standbys = postgresql_text(
        store, arena,
        "SELECT string_agg(application_name || ' ' || coalesce(sync_state, 'state not readable') "
        "|| coalesce(', behind by ' || pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) "
        "|| ' bytes', ''), '; ' ORDER BY application_name) FROM pg_stat_replication "
        "WHERE NOT pg_is_in_recovery()");
    const bool is_safe =
        postgresql_integer(store, "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN "
                                  "('sync', 'quorum')") > 0;
    add(findings, is_safe ? FINDING_OK : FINDING_WARNING, "standbys",
        standbys ? standbys
                 : "none: what was committed is lost with the server's disk; see "
                   "synchronous_standby_names");
}

static void add_integrity(struct store *store, struct arena *arena, struct buffer *findings) {
    const char *checksums = postgresql_text(store, arena, "SHOW data_checksums");
    const bool are_on = checksums && strcmp(checksums, "on") == 0;
    add(findings, are_on ? FINDING_OK : FINDING_WARNING, "integrity",
        are_on ? "the server checks the checksum of every page that it reads"
               : "the server has no checksums of its pages: pg_checksums --enable makes them");
}

static void add_clock(struct store *store, struct arena *arena, struct buffer *findings) {
    const int64_t before = clock_now();
    const int64_t server = postgresql_integer(
        store, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)");
    const int64_t difference = server - (before + clock_now()) / 2;
    const bool is_off = difference > CLOCK_WARNING_MS || difference < -CLOCK_WARNING_MS;
    add(findings, is_off ? FINDING_FAULT : FINDING_OK, "clock",
        arena_printf(arena, "%lld ms from the server's%s", (long long)difference,
                     is_off ? ": set both by NTP; leases and keys compare times of several hosts"
                            : ""));
}

static enum store_result inspect(struct store *store, struct arena *arena, bool is_full,
                                 struct buffer *findings) {
    (void)is_full; /* the server has its own check: pg_amcheck */
    add_role(store, arena, findings);
    add_standbys(store, arena, findings);
    add_integrity(store, arena, findings);
    add_clock(store, arena, findings);
    return sql_result(store);
}

const struct upkeep postgresql_upkeep = {
    .migrate = migrate,
    .backup = backup,
    .restore = restore,
    .list_files = list_files,
    .examine = examine,
    .inspect = inspect,
};
