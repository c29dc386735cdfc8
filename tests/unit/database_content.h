/* The content of a test's database as text, one line for each value: TABLE.COLUMN:TYPE VALUE. The
 * rows of a table are in the order of its first columns. The table settings_version is left out: it
 * has a random number. */
#ifndef SWITCHBOARD_TEST_DATABASE_CONTENT_H
#define SWITCHBOARD_TEST_DATABASE_CONTENT_H

#include <sqlite3.h>

#include "account_line.h"

static inline void add_value(struct buffer *out, const char *table, const char *column, int type,
                             struct slice value) {
    buffer_printf(out, "%s.%s:%d ", table, column, type);
    buffer_add_slice(out, value);
    buffer_add_char(out, '\n');
}

static inline void add_file_rows(sqlite3 *reader, struct buffer *out, const char *table) {
    sqlite3_stmt *s = NULL;
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY 1, 2, 3", table);
    sqlite3_prepare_v2(reader, sql, -1, &s, NULL);
    while (sqlite3_step(s) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const int n = sqlite3_column_bytes(s, i);
            add_value(out, table, sqlite3_column_name(s, i), sqlite3_column_type(s, i),
                      (struct slice){sqlite3_column_blob(s, i), (size_t)n});
        }
    sqlite3_finalize(s);
    sqlite3_free(sql);
}

static inline void add_file(struct buffer *out) {
    static sqlite3 *reader;
    sqlite3_stmt *s = NULL;
    if (!reader)
        check(sqlite3_open(database, &reader) == SQLITE_OK, "%s", database);
    sqlite3_prepare_v2(reader,
                       "SELECT name FROM sqlite_schema WHERE type = 'table' "
                       "AND name <> 'settings_version' ORDER BY name",
                       -1, &s, NULL);
    while (sqlite3_step(s) == SQLITE_ROW)
        add_file_rows(reader, out, (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
}

#ifdef SWITCHBOARD_POSTGRESQL
#include <libpq-fe.h>

/* SQLite's number of the type, so that a test names the same line for both. */
static inline int type_of(const PGresult *rows, int row, int column) {
    enum { BIGINT = 20, INT = 23, BYTEA = 17 };
    if (PQgetisnull(rows, row, column))
        return SQLITE_NULL;
    switch (PQftype(rows, column)) {
    case BIGINT:
    case INT: return SQLITE_INTEGER;
    case BYTEA: return SQLITE_BLOB;
    default: return SQLITE_TEXT;
    }
}

static inline struct slice value_of(PGresult *rows, int row, int column) {
    const char *text = PQgetvalue(rows, row, column);
    size_t n = (size_t)PQgetlength(rows, row, column);
    if (type_of(rows, row, column) != SQLITE_BLOB)
        return (struct slice){text, n};
    unsigned char *bytes = PQunescapeBytea((const unsigned char *)text, &n);
    struct slice value = {arena_copy(&arena, (struct slice){(char *)bytes, n}), n};
    PQfreemem(bytes);
    return value;
}

static inline void add_server_rows(PGconn *reader, struct buffer *out, const char *table) {
    PGresult *rows =
        PQexec(reader, arena_printf(&arena, "SELECT * FROM \"%s\" AS t ORDER BY t", table));
    check(PQresultStatus(rows) == PGRES_TUPLES_OK, "%s", PQerrorMessage(reader));
    for (int row = 0; row < PQntuples(rows); row++)
        for (int i = 0; i < PQnfields(rows); i++)
            add_value(out, table, PQfname(rows, i), type_of(rows, row, i), value_of(rows, row, i));
    PQclear(rows);
}

static inline void add_server(struct buffer *out) {
    static PGconn *reader;
    if (!reader)
        reader = PQconnectdb(database);
    PGresult *tables = PQexec(reader, "SELECT tablename FROM pg_tables "
                                      "WHERE schemaname = current_schema() "
                                      "AND tablename <> 'settings_version' ORDER BY 1");
    check(PQresultStatus(tables) == PGRES_TUPLES_OK, "%s", PQerrorMessage(reader));
    for (int i = 0; i < PQntuples(tables); i++)
        add_server_rows(reader, out, PQgetvalue(tables, i, 0));
    PQclear(tables);
}
#else
static inline void add_server(struct buffer *out) {
    (void)out;
    check(false, "this build supports no database on a server: %s", database);
}
#endif

static inline struct slice content(void) {
    struct buffer out = buffer_in(&arena);
    if (*database == '/')
        add_file(&out);
    else
        add_server(&out);
    return buffer_slice(&out);
}

#endif
