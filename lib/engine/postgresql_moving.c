/* Moving a PostgreSQL database to another one, and another one to PostgreSQL. */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/mover.h"
#include "engine/postgresql.h"

enum {
    STOP_TRIES = 40,
    LOCK_MS = 500,           /* less than deadlock_timeout, 1 s by default */
    LONGEST_WAIT_MS = 10000, /* for a lock, otherwise */
    PAUSE_MS = 100,
    COPY_BUFFER = 128 * 1024,
};

/* A pooler gives each transaction another connection: locks and settings would be lost. */
static enum store_result connect_to(const char *target, struct store **store) {
    enum store_result result = postgresql_connect(target, false, store);
    if (result == STORE_OK && strstr(target, "pooler=transaction"))
        return sql_refuse(*store, STORE_CONFLICT,
                          "the rows are copied over one connection: name the server instead of "
                          "the pooler");
    if (result == STORE_OK) {
        postgresql_script(*store, "SET idle_in_transaction_session_timeout = 0; "
                                  "SET statement_timeout = 0; SET lock_timeout = 10000");
        result = sql_result(*store);
    }
    return result;
}

static bool claim(struct store *store) {
    if (postgresql_integer(store, "SELECT CAST(pg_try_advisory_lock(1398227525) AS int)") != 1 &&
        !store->failure)
        store->failure = sql_refuse(store, STORE_CONFLICT,
                                    "another `switchboard copy-to` uses it, or it is both source "
                                    "and target");
    return !store->failure;
}

static bool has_table(struct store *store, const char *name) {
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT CAST(to_regclass('%s') IS NOT NULL AS int)", name);
    return postgresql_integer(store, sql) == 1;
}

static bool read_schema_id(struct store *store, struct schema_id *id) {
    *id = (struct schema_id){0};
    return !has_table(store, "schema_version") || postgresql_read_schema_id(store, id);
}

static bool set_version(struct store *store, int to) {
    char sql[64];
    snprintf(sql, sizeof sql, "UPDATE schema_version SET version = %d", to);
    return postgresql_script(store, sql);
}

static bool has_mark(struct store *store) {
    return has_table(store, MOVE_MARK);
}

/* --- the stop --- */

/* Tries to lock all tables, in the order in which writers do: the one whose counters they raise at
 * their end (sql.h) last. */
static bool lock_tables(struct store *store, const struct move_table *tables, size_t count) {
    const char *last = schema_counters();
    struct arena arena;
    arena_init(&arena, 1024 * 1024, NULL);
    struct buffer sql = buffer_in(&arena);
    buffer_printf(&sql, "BEGIN; SET LOCAL lock_timeout = %d; LOCK TABLE ", LOCK_MS);
    for (size_t i = 0; i < count; i++)
        if (strcmp(tables[i].name, last) != 0)
            buffer_printf(&sql, "\"%s\", ", tables[i].name);
    buffer_printf(&sql, "\"%s\" IN SHARE ROW EXCLUSIVE MODE; SET LOCAL lock_timeout = %d", last,
                  LONGEST_WAIT_MS);
    buffer_add_char(&sql, '\0');
    const bool done = postgresql_script(store, sql.p);
    arena_free(&arena);
    return done;
}

/* A writer that holds a lock of one table may wait for another, which is locked here already. Then
 * this one gives way, before the server ends one of them as a deadlock, and tries again. */
static bool stop_writers(struct store *store, const struct move_table *tables, size_t count) {
    static const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    for (int tries = 1; !lock_tables(store, tables, count); tries++) {
        const enum store_result failure = store->failure;
        char reason[256];
        snprintf(reason, sizeof reason, "%.200s", store->reason);
        store->failure = STORE_OK;
        if (failure == STORE_BUSY && tries < STOP_TRIES && postgresql_script(store, "ROLLBACK")) {
            nanosleep(&pause, NULL);
            continue;
        }
        store->failure = sql_refuse(store, failure,
                                    "the transactions that write could not be stopped: %s. Nothing "
                                    "was changed, and the gateway works on: run the command again",
                                    reason);
        return false;
    }
    return true;
}

/* The triggers fail as a standby does, so that programs connect again and then see why. */
static bool refuse_writers(struct store *store, const struct move_table *tables, size_t count) {
    char sql[256];
    postgresql_script(
        store, "CREATE FUNCTION " MOVE_MARK "_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ "
               "BEGIN RAISE EXCEPTION 'the content of this database was moved to another one' "
               "USING ERRCODE = '25006'; END $$");
    for (size_t i = 0; i < count && !store->failure; i++) {
        snprintf(sql, sizeof sql,
                 "CREATE TRIGGER " MOVE_MARK " BEFORE INSERT OR UPDATE OR DELETE ON \"%s\" "
                 "EXECUTE FUNCTION " MOVE_MARK "_refuse()",
                 tables[i].name);
        postgresql_script(store, sql);
    }
    return !store->failure;
}

static void end_readers(struct store *store) {
    postgresql_script(store, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                             "WHERE datname = current_database() AND usename = current_user "
                             "AND application_name = 'switchboard' AND pid <> pg_backend_pid()");
}

/* --- the copy --- */

/* Without the references the tables can be loaded in any order. */
#define BEGIN_COPY                                                                                 \
    "BEGIN; "                                                                                      \
    "CREATE TEMPORARY TABLE move_reference ON COMMIT DROP AS "                                     \
    "SELECT CAST(CAST(conrelid AS regclass) AS text) AS place, conname AS name, "                  \
    "pg_get_constraintdef(oid) AS definition FROM pg_constraint "                                  \
    "WHERE contype = 'f' AND connamespace = CAST(current_schema() AS regnamespace); "              \
    "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM move_reference LOOP "                    \
    "EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', r.place, r.name); "                       \
    "END LOOP; END $$"

#define END_COPY                                                                                   \
    "SET CONSTRAINTS ALL IMMEDIATE; "                                                              \
    "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM move_reference LOOP "                    \
    "EXECUTE format('ALTER TABLE %s ALTER CONSTRAINT %I NOT DEFERRABLE', "                         \
    "r.place, r.name); END LOOP; END $$"

static bool check_references(struct store *store) {
    return postgresql_script(
        store, "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM move_reference LOOP "
               "EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s DEFERRABLE INITIALLY DEFERRED',"
               " r.place, r.name, r.definition); "
               "END LOOP; END $$");
}

static bool commit(struct store *store) {
    return postgresql_script(store, "COMMIT");
}

/* --- COPY, in its binary form --- */

static char buffered[COPY_BUFFER];
static size_t buffered_count;

static bool put(struct store *store, const void *bytes, size_t n) {
    PGconn *db = postgresql_handle(store);
    if (buffered_count && buffered_count + n > sizeof buffered) {
        if (PQputCopyData(db, buffered, (int)buffered_count) != 1)
            return false;
        buffered_count = 0;
    }
    if (n > sizeof buffered)
        return PQputCopyData(db, bytes, (int)n) == 1;
    memcpy(buffered + buffered_count, bytes, n);
    buffered_count += n;
    return true;
}

static bool refuse_load(struct store *store, const struct move_table *table,
                        const PGresult *result) {
    const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *detail = result ? PQresultErrorField(result, PG_DIAG_CONTEXT) : NULL;
    if (!text)
        text = PQerrorMessage(postgresql_handle(store));
    if (!store->failure)
        store->failure =
            sql_refuse(store, STORE_CONFLICT, "table %s: %.*s%s%.200s", table->name,
                       (int)strcspn(text, "\n"), text, detail ? "; " : "", detail ? detail : "");
    return false;
}

static bool load_start(struct store *store, const struct move_table *table) {
    static const char head[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0"; /* no flags, no extension */
    struct arena arena;
    arena_init(&arena, 64 * 1024, NULL);
    struct buffer sql = buffer_in(&arena);
    buffer_printf(&sql, "COPY \"%s\" (", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        buffer_printf(&sql, "%s\"%s\"", i ? ", " : "", table->columns[i].name);
    buffer_add_text(&sql, ") FROM STDIN (FORMAT binary)");
    PGresult *result = PQexec(postgresql_handle(store), sql.p);
    arena_free(&arena);
    buffered_count = 0;
    const bool done = PQresultStatus(result) == PGRES_COPY_IN && put(store, head, 19);
    if (!done)
        refuse_load(store, table, result);
    PQclear(result);
    return done;
}

static bool send_value(struct store *store, const struct parameter *value) {
    const bool is_integer = value->kind == PARAMETER_INTEGER;
    const bool is_null = !is_integer && !value->bytes.p;
    const uint64_t integer = htobe64((uint64_t)value->integer);
    const size_t n = is_integer ? sizeof integer : value->bytes.n;
    const uint32_t length = htobe32(is_null ? UINT32_MAX : (uint32_t)n);
    return put(store, &length, sizeof length) &&
           (is_null || put(store, is_integer ? (const char *)&integer : value->bytes.p, n));
}

static bool load_row(struct store *store, const struct move_table *table,
                     const struct parameter *values) {
    const uint16_t count = htobe16((uint16_t)table->column_count);
    bool done = put(store, &count, sizeof count);
    for (size_t i = 0; i < table->column_count && done; i++)
        done = send_value(store, &values[i]);
    return done || refuse_load(store, table, NULL);
}

static bool load_end(struct store *store, const struct move_table *table) {
    PGconn *db = postgresql_handle(store);
    const uint16_t end = UINT16_MAX;
    bool done = put(store, &end, sizeof end) &&
                PQputCopyData(db, buffered, (int)buffered_count) == 1 &&
                PQputCopyEnd(db, NULL) == 1;
    for (PGresult *result; (result = PQgetResult(db)); PQclear(result))
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            done = refuse_load(store, table, result);
    return done || refuse_load(store, table, NULL);
}

const struct mover postgresql_mover = {
    .driver = &postgresql_driver,
    .text = "TEXT COLLATE \"C\"",
    .connect = connect_to,
    .claim = claim,
    .read_schema_id = read_schema_id,
    .set_version = set_version,
    .has_mark = has_mark,
    .script = postgresql_script,
    .begin_view = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    .begin_copy = BEGIN_COPY,
    .end_copy = END_COPY,
    .stop_writers = stop_writers,
    .refuse_writers = refuse_writers,
    .end_readers = end_readers,
    .check_references = check_references,
    .commit = commit,
    .load_start = load_start,
    .load_row = load_row,
    .load_end = load_end,
};
