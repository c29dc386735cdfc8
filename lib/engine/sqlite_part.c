/* SQLite reads the rows of sqlite_schema in the order of creation, and parses each. The callback of
 * its trace interrupts this at the first object that is not needed. With WRITABLE_SCHEMA, SQLite
 * keeps what it has parsed when the schema cannot be read to its end. */
#include "engine/sqlite.h"

#include <string.h>

struct progress {
    sqlite3 *db;
    bool has_begun[SCHEMA_TABLES];
};

static bool has_all(const struct progress *progress) {
    for (size_t i = 0; i < SCHEMA_TABLES; i++)
        if (schema_tables[i].part == PART_REQUIRED && !progress->has_begun[i])
            return false;
    return true;
}

/* A row of sqlite_schema: type, name, name of the table. The indexes of a table follow it. */
static int check_row(unsigned kind, void *context, void *statement, void *unused) {
    struct progress *progress = context;
    const char *type = (const char *)sqlite3_column_text(statement, 0);
    const struct schema_table *table =
        schema_find_table((const char *)sqlite3_column_text(statement, 2));
    const bool is_in_part = table && table->part != PART_NONE;
    (void)kind, (void)unused;
    if (has_all(progress) && (!is_in_part || !type || strcmp(type, "trigger") == 0))
        sqlite3_interrupt(progress->db);
    else if (is_in_part)
        progress->has_begun[table - schema_tables] = true;
    return 0;
}

void sqlite_part_read(sqlite3 *db) {
    struct progress progress = {.db = db};
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    sqlite3_trace_v2(db, SQLITE_TRACE_ROW, check_row, &progress);
    sqlite3_exec(db, "SELECT 1 FROM sqlite_schema LIMIT 0", NULL, NULL, NULL);
    sqlite3_trace_v2(db, 0, NULL, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
}

void sqlite_part_forget(sqlite3 *db) {
    sqlite3_exec(db, "PRAGMA writable_schema = RESET", NULL, NULL, NULL);
}
