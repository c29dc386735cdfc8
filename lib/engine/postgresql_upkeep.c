/* What the CLI does with a database on a PostgreSQL server: above all it inspects it, for
 * `switchboard doctor`. */
#include <string.h>

#include "base/clock.h"
#include "engine/maintenance.h"
#include "engine/postgresql.h"
#include "engine/postgresql_clock.h"
#include "engine/postgresql_target.h"

enum {
    CLOCK_WARNING_MS = 2000,
    LAG_WARNING_MIB = 16, /* of the write-ahead log: one segment */
};

static bool is_true(struct store *store, const char *condition, struct arena *arena) {
    return postgresql_integer(store, arena_printf(arena, "SELECT CAST(%s AS int)", condition)) == 1;
}

static void add_server(struct store *store, struct arena *arena, struct buffer *findings) {
    const bool is_standby = is_true(store, "pg_is_in_recovery()", arena);
    const bool is_stuck = store_is_stuck(store);
    finding_add(
        findings, is_standby || is_stuck ? FINDING_FAULT : FINDING_OK, "database",
        arena_printf(arena, "opens, with the schema version of this program; PostgreSQL %s, %s",
                     postgresql_text(store, arena, "SHOW server_version"),
                     is_standby ? "a standby, which takes no writes: name the primary too"
                     : is_stuck ? "which answers no write: its synchronous standby is not there. "
                                  "If another server was promoted, stop this one and name that one "
                                  "in the URL; else start the standby, or take it out of "
                                  "synchronous_standby_names"
                                : "the primary"));
}

/* What a network between may read or change. */
static void add_encryption(struct store *store, struct arena *arena, struct buffer *findings) {
    const char *mode = postgresql_sslmode(postgresql_handle(store), arena);
    const bool is_checked = strcmp(mode, "verify-full") == 0;
    const bool is_required =
        is_checked || strcmp(mode, "verify-ca") == 0 || strcmp(mode, "require") == 0;
    if (!hosts_are_remote(postgresql_hosts(store)))
        finding_add(findings, FINDING_OK, "database TLS",
                    "not needed: the URL names this machine alone");
    else if (is_checked)
        finding_add(findings, FINDING_OK, "database TLS",
                    "the server's certificate and name are checked");
    else if (is_required)
        finding_add(findings, FINDING_WARNING, "database TLS",
                    "the server's name is not checked, so another one may take its place: "
                    "sslmode=verify-full");
    else
        finding_add(
            findings, FINDING_FAULT, "database TLS",
            "the URL's sslmode allows a connection without TLS, on which others read and change "
            "everything: sslmode=verify-full");
}

static void add_role(struct store *store, struct arena *arena, struct buffer *findings) {
    const char *role = postgresql_text(store, arena, "SELECT current_user");
    if (is_true(store, "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)", arena))
        finding_add(
            findings, FINDING_WARNING, "role",
            arena_printf(arena,
                         "%s is a superuser of the server: use a role that only owns the database",
                         role));
    else
        finding_add(findings, FINDING_OK, "role",
                    arena_printf(arena, "%s, without superuser", role));
}

/* What libpq gets as the number of the server's process is that of a pooler between them. */
static void add_pooler(struct store *store, struct buffer *findings) {
    const bool is_between = PQbackendPID(postgresql_handle(store)) !=
                            postgresql_integer(store, "SELECT pg_backend_pid()");
    const bool is_declared = postgresql_is_pooled(store);
    if (is_between && !is_declared)
        finding_add(findings, FINDING_FAULT, "pooler",
                    "one is between this host and the server, and the URL does not say so: add "
                    "pooler=transaction");
    else if (is_between)
        finding_add(findings, FINDING_OK, "pooler",
                    "between this host and the server, by transaction");
    else if (is_declared)
        finding_add(
            findings, FINDING_WARNING, "pooler",
            "the URL has pooler=transaction, and none is between: each statement is parsed anew");
    else
        finding_add(findings, FINDING_OK, "pooler", "none");
}

/* A role without pg_read_all_stats sees the standbys, but not their states. */
#define STANDBYS                                                                                   \
    "SELECT string_agg(application_name || ' ' || coalesce(sync_state || ', behind by ' || "       \
    "pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) || ' bytes', 'of unknown state'), "         \
    "'; ' ORDER BY application_name) FROM pg_stat_replication"
#define SAFE    "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')"
#define UNKNOWN "SELECT count(*) FROM pg_stat_replication WHERE sync_state IS NULL"
#define BEHIND                                                                                     \
    "SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)), 0)::bigint "          \
    "/ 1048576 FROM pg_stat_replication"

static void add_standbys(struct store *store, struct arena *arena, struct buffer *findings) {
    if (is_true(store, "pg_is_in_recovery()", arena))
        return;
    const char *standbys = postgresql_text(store, arena, STANDBYS);
    const char *advice = "";
    if (!standbys)
        advice = "none: what was committed is lost with the server's disk";
    else if (postgresql_integer(store, UNKNOWN) > 0)
        advice = ": GRANT pg_read_all_stats to the role shows the state";
    else if (postgresql_integer(store, SAFE) == 0)
        advice = ": none is synchronous, so a failover may lose what was committed; set "
                 "synchronous_standby_names";
    else if (postgresql_integer(store, BEHIND) >= LAG_WARNING_MIB)
        advice = ": one is far behind; a failover waits until it has caught up";
    finding_add(findings, *advice ? FINDING_WARNING : FINDING_OK, "standbys",
                arena_printf(arena, "%s%s", standbys ? standbys : "", advice));
}

static void add_durability(struct store *store, struct arena *arena, struct buffer *findings) {
    const char *off = postgresql_text(
        store, arena,
        "SELECT string_agg(name, ', ' ORDER BY name) FROM pg_settings WHERE setting = 'off' "
        "AND name IN ('fsync', 'full_page_writes', 'synchronous_commit')");
    finding_add(
        findings, off ? FINDING_WARNING : FINDING_OK, "durability",
        off ? arena_printf(arena, "off: %s; a crash of the server may lose what was committed", off)
            : "a commit is on the server's disk when it is answered");
}

static void add_integrity(struct store *store, struct arena *arena, struct buffer *findings) {
    const char *checksums = postgresql_text(store, arena, "SHOW data_checksums");
    const bool are_on = checksums && strcmp(checksums, "on") == 0;
    finding_add(findings, are_on ? FINDING_OK : FINDING_WARNING, "integrity",
                are_on
                    ? "the server checks the checksum of every page that it reads"
                    : "the server has no checksums of its pages: pg_checksums --enable makes them");
}

/* Warns of tables that the courier would have had the server analyze (postgresql_statistics.c), and
 * of those that are too large for that. */
static void add_statistics(struct store *store, struct arena *arena, struct buffer *findings) {
    const char *without = postgresql_text(
        store, arena,
        "SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class WHERE relkind = 'r' "
        "AND relnamespace = current_schema()::regnamespace AND reltuples < 0 "
        "AND pg_relation_size(oid) > 8 * 1024 * 1024");
    finding_add(
        findings, without ? FINDING_WARNING : FINDING_OK, "statistics",
        without ? arena_printf(arena,
                               "the server has none of %s, after pg_upgrade for example, and may "
                               "read whole tables: run the SQL command ANALYZE",
                               without)
                : "the server has those of the large tables");
}

static void add_clock(struct store *store, struct arena *arena, struct buffer *findings) {
    postgresql_set_clock(postgresql_handle(store));
    const int64_t ahead = clock_ahead();
    const bool is_off = ahead > CLOCK_WARNING_MS || ahead < -CLOCK_WARNING_MS;
    finding_add(findings, is_off ? FINDING_WARNING : FINDING_OK, "clock",
                arena_printf(
                    arena, "this host's clock is %lld ms %s the server's, which the programs use%s",
                    (long long)(ahead < 0 ? -ahead : ahead), ahead < 0 ? "behind" : "ahead of",
                    is_off ? ": set both by NTP" : ""));
}

static enum store_result inspect(struct store *store, struct arena *arena, bool is_full,
                                 struct buffer *findings) {
    (void)is_full; /* the server has its own check: pg_amcheck */
    add_server(store, arena, findings);
    add_encryption(store, arena, findings);
    add_role(store, arena, findings);
    add_pooler(store, findings);
    add_standbys(store, arena, findings);
    add_durability(store, arena, findings);
    add_integrity(store, arena, findings);
    add_statistics(store, arena, findings);
    add_clock(store, arena, findings);
    return sql_result(store);
}

/* --- connections --- */

static enum store_result count_connections(struct store *store,
                                           struct store_connections *connections) {
    connections->is_pooled = postgresql_is_pooled(store);
    connections->used =
        (int)postgresql_integer(store, "SELECT sum(numbackends) FROM pg_stat_database");
    connections->most = (int)postgresql_integer(
        store, "SELECT least(current_setting('max_connections')::int "
               "- current_setting('superuser_reserved_connections')::int, "
               "(SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user "
               "AND rolconnlimit >= 0), (SELECT datconnlimit FROM pg_database "
               "WHERE datname = current_database() AND datconnlimit >= 0))");
    return sql_result(store);
}

/* --- the role that reads --- */

#define TABLES_OF(condition)                                                                       \
    "SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class "                             \
    "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND " condition

/* What a role may use up that others need, without a right to write. */
#define SURPLUS                                                                                    \
    "SELECT string_agg(what, ', ' ORDER BY place) FROM (VALUES "                                   \
    "(1, 'advisory locks', EXISTS (SELECT 1 FROM pg_proc WHERE "                                   \
    "pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_.*lock' "        \
    "AND proname !~ 'unlock' AND has_function_privilege(oid, 'EXECUTE'))), "                       \
    "(2, 'large objects', EXISTS (SELECT 1 FROM pg_proc WHERE "                                    \
    "pronamespace = 'pg_catalog'::regnamespace "                                                   \
    "AND proname IN ('lo_creat', 'lo_create', 'lo_from_bytea') "                                   \
    "AND has_function_privilege(oid, 'EXECUTE'))), "                                               \
    "(3, 'temporary tables', has_database_privilege(current_database(), 'TEMPORARY'))) "           \
    "AS rights (place, what, is_held) WHERE is_held"

static void add_reader(struct arena *arena, const char *role, const char *surplus,
                       struct buffer *findings) {
    if (surplus)
        finding_add(
            findings, FINDING_WARNING, "database reader",
            arena_printf(arena,
                         "%s may read all tables and write none, but take or create %s, and so "
                         "stop the others: doc/moving-to-postgresql.md has the SQL that revokes it",
                         role, surplus));
    else
        finding_add(findings, FINDING_OK, "database reader",
                    arena_printf(arena, "%s may read all tables and write none", role));
}

static enum store_result inspect_reader(struct store *store, struct arena *arena,
                                        struct buffer *findings) {
    const char *role = postgresql_text(store, arena, "SELECT current_user");
    const char *closed =
        postgresql_text(store, arena, TABLES_OF("NOT has_table_privilege(oid, 'SELECT')"));
    const char *open = postgresql_text(
        store, arena, TABLES_OF("has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE')"));
    if (closed)
        finding_add(
            findings, FINDING_FAULT, "database reader",
            arena_printf(arena, "%s may not read %s: `switchboard init` grants it", role, closed));
    else if (open)
        finding_add(
            findings, FINDING_WARNING, "database reader",
            arena_printf(arena, "%s may write too: %s; use a role with SELECT alone", role, open));
    else
        add_reader(arena, role, postgresql_text(store, arena, SURPLUS), findings);
    return sql_result(store);
}

/* --- backups --- */

static enum store_result backup(struct store *store, const char *path) {
    (void)path;
    return sql_refuse(store, STORE_UNAVAILABLE,
                      "the database is on a server: back it up with pg_basebackup and its archive "
                      "of the write-ahead log, or with pg_dump");
}

static enum store_result restore(const char *target, const char *file,
                                 struct store_restoration *restoration, struct store **out) {
    (void)file, (void)restoration;
    enum store_result result = postgresql_connect(target, true, out);
    return result != STORE_OK
               ? result
               : sql_refuse(*out, STORE_UNAVAILABLE,
                            "the database is on a server: restore it with the server's programs, "
                            "pg_restore or a base backup");
}

const struct upkeep postgresql_upkeep = {
    .migrate = postgresql_migrate,
    .admit_reader = postgresql_admit_reader,
    .backup = backup,
    .restore = restore,
    .inspect = inspect,
    .inspect_reader = inspect_reader,
    .count_connections = count_connections,
};
