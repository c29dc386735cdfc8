/* Internal to the store: what moving.c needs of each kind of database, beside the statements that
 * run on all of them. */
#ifndef SWITCHBOARD_ENGINE_MOVER_H
#define SWITCHBOARD_ENGINE_MOVER_H

#include "engine/driver.h"
#include "engine/schema.h"

enum { MOVE_COLUMNS = 32 }; /* the most that a table may have */

/* A table of this program's schema. */
struct move_table {
    const char *name;
    struct move_column {
        const char *name;
        enum { COLUMN_TEXT, COLUMN_INTEGER, COLUMN_BLOB } kind;
    } columns[MOVE_COLUMNS];
    size_t column_count;
    size_t key[MOVE_COLUMNS]; /* the columns of the primary key, in its order */
    size_t key_count;
};

/* Lists the tables of schema.sql. Returns false if it has a form that cannot be moved. */
bool move_list_tables(struct arena *arena, struct move_table **tables, size_t *count);

/* The table with the one row that says why a database is closed. A database that was moved, or
 * whose copy is incomplete, has its version negated: programs refuse it, those that have it open
 * too. */
#define MOVE_MARK "database_move"

/* Failures are latched (sql.h). */
struct mover {
    const struct driver *driver;
    const char *text; /* the type of a column for texts */
    /* Connects without a look at the schema. */
    enum store_result (*connect)(const char *target, struct store **store);
    /* Excludes other processes that move this database; NULL: not needed. */
    bool (*claim)(struct store *store);
    /* Reads the version and edition of the schema; version 0: there is no schema. */
    bool (*read_schema_id)(struct store *store, struct schema_id *id);
    bool (*set_version)(struct store *store, int version);
    bool (*has_mark)(struct store *store);
    /* Sets owner and mode of a database that was created; NULL: not needed. */
    bool (*adopt)(struct store *store, const char *target);

    /* Runs the following SQL. */
    bool (*script)(struct store *store, const char *sql);
    /* Begins a transaction that sees one state of the database. */
    const char *begin_view;
    /* Begins one that writes the copy; references between rows are not checked yet. */
    const char *begin_copy;
    /* Before its commit; NULL: not needed. */
    const char *end_copy;

    /* Makes programs begin no requests, and waits for those that run; NULL: it is not possible. */
    bool (*drain)(struct store *store, const char *target);
    /* A transaction during which no other connection writes. */
    bool (*stop_writers)(struct store *store, const struct move_table *tables, size_t count);
    /* Makes writes that wait for the end of that transaction fail, and all later ones. NULL: they
     * fail by the version. */
    bool (*refuse_writers)(struct store *store, const struct move_table *tables, size_t count);
    /* Ends connections that only read; after the commit; NULL: not needed. */
    void (*end_readers)(struct store *store);

    /* Checks all references; those of rows that are written later are checked by the commit. */
    bool (*check_references)(struct store *store);
    bool (*commit)(struct store *store);

    /* Loads many rows into a table; NULL: they are inserted one by one. */
    bool (*load_start)(struct store *store, const struct move_table *table);
    bool (*load_row)(struct store *store, const struct move_table *table,
                     const struct parameter *values);
    bool (*load_end)(struct store *store, const struct move_table *table);
};

extern const struct mover sqlite_mover;
extern const struct mover postgresql_mover; /* in programs for PostgreSQL only */

#endif
