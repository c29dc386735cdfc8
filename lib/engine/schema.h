/* The schema of the database: its version, its text, compiled into the program, and which databases
 * a program accepts. */
#ifndef SWITCHBOARD_ENGINE_SCHEMA_H
#define SWITCHBOARD_ENGINE_SCHEMA_H

#include "engine/database.h"

/* The edition of databases that were made before there were editions. */
enum { SCHEMA_EDITION_NONE = 0 };

/* Why a database with a negative version is refused (mover.h). */
#define SCHEMA_CLOSED                                                                              \
    "its content was moved to another database, or a copy to it is incomplete: `switchboard "      \
    "copy-to` says which"

/* What a database says about its schema. */
struct schema_id {
    int64_t version; /* 0: it has no schema; negative: see SCHEMA_CLOSED */
    int edition;     /* of the text that its tables were made from, 0 to 0xffff */
};

/* A step of a migration: `sql` changes version to - 1 to version `to`. schema.sql is the result of
 * all steps; a test compares the two. `fill` then writes what SQL cannot compute. */
struct schema_step {
    int to;                            /* 0: the end of the list */
    int edition;                       /* of version to - 1, as it was released */
    const char *const *sql;            /* ends with NULL */
    bool (*fill)(struct store *store); /* by statements (sql.h); false on failure; NULL: nothing */
};

/* The version of schema.sql. It is 1 until the first release; after a release each change of
 * schema.sql raises it by one and adds a step. */
extern const int schema_version;

/* The words of the steps are those of schema.sql, with `"user"` quoted; a driver translates the
 * types of columns (INTEGER, BLOB, TEXT) and STRICT, so write no CAST to one of them. */
extern const struct schema_step schema_steps[];

/* schema.sql, and its edition: the first 16 bits of the SHA-256 of its text without comments and
 * line breaks. The texts that one version had before its release have different editions. */
extern const char schema_sql[];
extern const int schema_edition;

/* The same in PostgreSQL's words (tools/schema/postgresql.awk). */
extern const char schema_postgresql_sql[];

/* The tables that the engine treats otherwise than the others. */
enum { SCHEMA_TABLES = 7 };
extern const struct schema_table {
    const char *name;
    enum {
        PART_NONE,
        PART_OPTIONAL, /* of the part of sqlite_part.c, if it follows the others at once */
        PART_REQUIRED
    } part;
    bool is_small;     /* grows with the number of customers only */
    bool is_local;     /* its rows are about this database: a copy of the database has its own */
    bool has_counters; /* LOCK_COUNTERS locks its rows; one table has them */
} schema_tables[SCHEMA_TABLES];

/* Returns the table with this name; NULL: it is like all others. */
const struct schema_table *schema_find_table(const char *name);

/* Returns the name of the table with the counters. */
const char *schema_counters(void);

/* Why a program cannot use or migrate the schema of a database that is not moved: made by a
 * development version, or by a newer program; formatted into `reason` (at most `size` bytes with
 * the NUL). NULL: it can. */
const char *schema_refusal(const struct schema_id *found, char *reason, size_t size);

/* As schema_refusal; also refuses an older schema, which must be migrated first. */
const char *schema_mismatch(const struct schema_id *found, char *reason, size_t size);

/* Refuses the open database if its schema cannot be used, or with `migrates` cannot be migrated, or
 * if it is closed. */
enum store_result schema_check(struct store *store, const struct schema_id *found, bool migrates);

/* Runs the steps after `version`, each statement by `run`; false on failure. */
bool schema_run_steps(struct store *store, int64_t version,
                      bool (*run)(struct store *store, const char *sql));

#endif
