/* The schema of the database: its version, and its text, compiled into the program. */
#ifndef SWITCHBOARD_STORE_SCHEMA_H
#define SWITCHBOARD_STORE_SCHEMA_H

enum { SCHEMA_VERSION = 7 };

/* Why a database with a negative version is refused (mover.h). */
#define SCHEMA_CLOSED                                                                              \
    "its content was moved to another database, or a copy to it is incomplete: `switchboard "      \
    "copy-to` says which"

/* schema.sql. */
extern const char schema_sql[];

/* The same in PostgreSQL's words (tools/schema/postgresql.awk). */
extern const char schema_postgresql_sql[];

#endif
