/* The steps of migrations from schema version 5 on, for every kind of database. */
#ifndef SWITCHBOARD_STORE_SCHEMA_STEPS_H
#define SWITCHBOARD_STORE_SCHEMA_STEPS_H

#include "store/store.h"

/* A step: `sql` migrates version to - 1 to version `to`. schema.sql is the result of all steps; a
 * test compares the two. `fill` then writes what SQL cannot compute. */
struct schema_step {
    int to;                            /* 0: the end of the list */
    const char *const *sql;            /* ends with NULL */
    bool (*fill)(struct store *store); /* by statements (sql.h); false on failure; NULL: nothing */
    const char *const *sqlite; /* what only SQLite runs then; it may write sqlite_schema, where that
                                  changes no content of a table; NULL: nothing */
};

/* The words of `sql` are those of schema.sql, with `"user"` quoted; a driver translates the types
 * of columns (INTEGER, BLOB, TEXT) and STRICT, so write no CAST to one of them. */
extern const struct schema_step schema_steps[];

#endif
