/* Creating the schema on a PostgreSQL server, and migrating an older one; by the CLI only.
 * Definitions are part of the transaction there: a schema is made as a whole or not at all. */
#include <stdio.h>
#include <string.h>

#include "engine/postgresql.h"
#include "engine/schema.h"

/* The number of the advisory lock of a migration: the bytes "SWBD". */
#define LOCK_MIGRATION "SELECT pg_advisory_xact_lock(1398227524)"

/* The version, in a table that no other program has. */
#define VERSION_TABLE                                                                              \
    "CREATE TABLE schema_version (application TEXT PRIMARY KEY CHECK (application = "              \
    "'switchboard'), version BIGINT NOT NULL, edition BIGINT NOT NULL); "                          \
    "INSERT INTO schema_version VALUES ('switchboard', 0, 0)"

/* A column that sorts otherwise than by bytes makes other pages and other locks than SQLite. */
#define COLUMNS_OF_OTHER_ORDER                                                                     \
    "SELECT string_agg(c.relname || '.' || a.attname, ', ' ORDER BY 1) FROM pg_attribute a "       \
    "JOIN pg_class c ON c.oid = a.attrelid WHERE c.relkind = 'r' "                                 \
    "AND c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 "                        \
    "AND c.relname <> 'schema_version' "                                                           \
    "AND a.attcollation NOT IN (0, (SELECT oid FROM pg_collation WHERE collname = 'C'))"

/* --- SQL in PostgreSQL's words --- */

/* The same as tools/schema/postgresql.awk does with schema.sql. */
static const struct {
    const char *from, *to;
} words[] = {
    {" INTEGER", " BIGINT"},
    {" BLOB", " BYTEA"},
    {" TEXT", " TEXT COLLATE \"C\""},
    {" STRICT", ""},
    {" random()", " CAST(random() * 9007199254740991 AS BIGINT)"},
};

enum { WORD_COUNT = sizeof words / sizeof *words };

static bool is_end_of_word(char c) {
    return !c || strchr(" ,;()", c);
}

/* Adds what stands for the text at `sql`; returns the number of bytes that it stands for. */
static size_t add_word(struct buffer *text, const char *sql) {
    for (size_t i = 0; i < WORD_COUNT; i++) {
        const size_t n = strlen(words[i].from);
        if (strncmp(sql, words[i].from, n) == 0 && is_end_of_word(sql[n])) {
            buffer_printf(text, "%s", words[i].to);
            return n;
        }
    }
    buffer_add(text, sql, 1);
    return 1;
}

static const char *translate(struct arena *arena, const char *sql) {
    struct buffer text = buffer_in(arena);
    while (*sql)
        sql += add_word(&text, sql);
    buffer_add(&text, "", 1);
    return text.p;
}

/* A trigger calls a function with its statement, which all triggers of the schema have, as
 * tools/schema/postgresql.awk makes it. */
static bool run_trigger(struct store *store, struct arena *arena, const char *sql) {
    const char *begin = strstr(sql, " BEGIN "), *body = begin + strlen(" BEGIN");
    const char *end = strstr(body, " END");
    return postgresql_script(
               store, arena_printf(arena,
                                   "CREATE OR REPLACE FUNCTION settings_changed() RETURNS trigger "
                                   "LANGUAGE plpgsql AS $$ BEGIN%.*s RETURN NULL; END $$",
                                   (int)(end - body), body)) &&
           postgresql_script(store, arena_printf(arena, "%.*s EXECUTE FUNCTION settings_changed()",
                                                 (int)(begin - sql), sql));
}

static bool run_translated(struct store *store, const char *sql) {
    struct arena arena;
    arena_init(&arena, 1024 * 1024, NULL);
    const char *text = translate(&arena, sql);
    const bool is_done = strncmp(sql, "CREATE TRIGGER ", 15) == 0 ? run_trigger(store, &arena, text)
                                                                  : postgresql_script(store, text);
    arena_free(&arena);
    return is_done;
}

/* --- the steps --- */

static void write_schema_id(struct store *store) {
    char sql[96];
    snprintf(sql, sizeof sql, "UPDATE schema_version SET version = %d, edition = %d",
             schema_version, schema_edition);
    postgresql_script(store, sql);
}

static void migrate(struct store *store, int version) {
    if (schema_run_steps(store, version, run_translated))
        write_schema_id(store);
}

static void create(struct store *store) {
    if (postgresql_script(store, VERSION_TABLE) && postgresql_script(store, schema_postgresql_sql))
        write_schema_id(store);
}

/* --- what may not be touched --- */

static enum store_result check_database(struct store *store) {
    const bool is_utf8 =
        postgresql_integer(store, "SELECT CAST(getdatabaseencoding() = 'UTF8' AS int)") == 1;
    const bool has_schema =
        postgresql_integer(store, "SELECT CAST(current_schema() IS NOT NULL AS int)") == 1;
    enum store_result result = sql_result(store);
    if (result != STORE_OK)
        return result;
    if (!is_utf8)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "the database has another encoding than UTF8: create it with "
                          "ENCODING 'UTF8' TEMPLATE template0");
    if (!has_schema)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "the role's search_path names no schema that exists: "
                          "CREATE SCHEMA public");
    return STORE_OK;
}

/* Reads the schema's version, 0 in a database without tables. Refuses that of another program. */
static enum store_result read_version(struct store *store, int *version) {
    const bool is_ours = postgresql_integer(store, "SELECT count(*) FROM pg_attribute WHERE "
                                                   "attrelid = to_regclass('schema_version') "
                                                   "AND attname = 'application'") == 1;
    const int64_t tables = postgresql_integer(store, "SELECT count(*) FROM pg_class WHERE "
                                                     "relnamespace = current_schema()::regnamespace"
                                                     " AND relkind IN ('r', 'p', 'v', 'm', 'f')");
    struct schema_id found = {0};
    if (is_ours)
        postgresql_read_schema_id(store, &found);
    *version = (int)found.version;
    enum store_result result = sql_result(store);
    if (result != STORE_OK)
        return result;
    if (!is_ours && tables > 0)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it belongs to another program and was not changed: create a database "
                          "for this program alone");
    return schema_check(store, &found, true);
}

static enum store_result check_order(struct store *store) {
    struct arena arena;
    arena_init(&arena, 64 * 1024, NULL);
    const char *columns = postgresql_text(store, &arena, COLUMNS_OF_OTHER_ORDER);
    enum store_result result = sql_result(store);
    if (result == STORE_OK && columns)
        result = sql_refuse(store, STORE_UNAVAILABLE,
                            "columns have another collation than \"C\": %.200s", columns);
    arena_free(&arena);
    return result;
}

/* --- the migration --- */

/* Within a transaction, under the lock: of two migrations the second one finds the new version. */
static enum store_result change_schema(struct store *store, int *from) {
    enum store_result result = read_version(store, from);
    if (result != STORE_OK)
        return result;
    if (*from == 0)
        create(store);
    else if (*from < schema_version)
        migrate(store, *from);
    result = sql_result(store);
    return result == STORE_OK ? check_order(store) : result;
}

/* The role of the target must own the schema or have CREATE on it, which PostgreSQL 15 gives to the
 * database's owner alone. */
static enum store_result explain(struct store *store, enum store_result result) {
    if (result != STORE_UNAVAILABLE || !strstr(store->reason, "permission denied for schema"))
        return result;
    char reason[sizeof store->reason];
    snprintf(reason, sizeof reason, "%s", store->reason);
    return sql_refuse(store, result,
                      "%.600s; make the role the owner: ALTER DATABASE ... OWNER TO ...", reason);
}

enum store_result postgresql_migrate(const char *target, int *from, int *to, struct store **out) {
    enum store_result result = postgresql_connect(target, false, out);
    struct store *store = *out;
    *from = 0;
    *to = schema_version;
    if (result != STORE_OK || (result = check_database(store)) != STORE_OK)
        return result;
    postgresql_script(store, "BEGIN");
    postgresql_script(store, "SET LOCAL lock_timeout = 0");
    postgresql_script(store, LOCK_MIGRATION);
    if ((result = sql_result(store)) == STORE_OK)
        result = change_schema(store, from);
    if (result != STORE_OK) {
        PQclear(PQexec(postgresql_handle(store), "ROLLBACK"));
        return explain(store, result);
    }
    postgresql_script(store, "COMMIT");
    return sql_result(store);
}

/* --- the role that reads --- */

static bool has_role(struct store *store, const char *role) {
    char sql[256];
    char *literal = PQescapeLiteral(postgresql_handle(store), role, strlen(role));
    const bool fits =
        literal && snprintf(sql, sizeof sql, "SELECT count(*) FROM pg_roles WHERE rolname = %s",
                            literal) < (int)sizeof sql;
    PQfreemem(literal);
    return fits && postgresql_integer(store, sql) == 1;
}

/* Grants the role what it needs to read, also for tables that later versions add: init runs after
 * each upgrade. */
static void grant(struct store *store, struct arena *arena, const char *role) {
    static const char *const rights[] = {"USAGE ON SCHEMA", "SELECT ON ALL TABLES IN SCHEMA"};
    const char *schema = postgresql_text(store, arena, "SELECT quote_ident(current_schema())");
    char *name = PQescapeIdentifier(postgresql_handle(store), role, strlen(role));
    for (size_t i = 0; name && i < sizeof rights / sizeof *rights; i++)
        postgresql_script(store, arena_printf(arena, "GRANT %s %s TO %s", rights[i], schema, name));
    PQfreemem(name);
}

enum store_result postgresql_admit_reader(struct store *store, struct arena *arena,
                                          const char *reader, const char **role) {
    const char *own = postgresql_text(store, arena, "SELECT current_user");
    *role = postgresql_user(reader, arena);
    if (!sql_failed(store) && (!*role || strcmp(*role, own) == 0))
        *role = NULL;
    else if (has_role(store, *role))
        grant(store, arena, *role);
    else if (!sql_failed(store))
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "the role %.64s of database_reader does not exist: CREATE ROLE with "
                          "LOGIN makes it",
                          *role);
    return sql_result(store);
}
