/* Internal to the SQLite driver: its connection, and what only SQLite needs. */
#ifndef SWITCHBOARD_ENGINE_SQLITE_H
#define SWITCHBOARD_ENGINE_SQLITE_H

#include <sqlite3.h>

#include "engine/schema.h"
#include "engine/sql.h"

/* A write-ahead log with more bytes is truncated when the database is opened. */
enum { WAL_TOO_LONG = 64 * 1024 * 1024 };

/* The path of a new database in memory. */
#define SQL_IN_MEMORY ":memory:"

/* Opens a connection with the store's settings; flags of sqlite3_open_v2. Fails like store_open.
 * With the flag of a URI it opens the wal-index read-only and parses the whole schema only when a
 * statement needs it (sqlite_part.c): for requests that read, not for a check of the file. */
enum store_result sql_open(const char *path, int flags, struct store **store);

/* Opens an empty database in memory with the schema, which SQLite itself reads. */
bool sqlite_open_schema(struct store **store);

/* Reads what the header of the file says about its schema: the version is its user_version, the
 * edition the lower half of its application id. False if the upper half is that of another program,
 * and on failure. */
bool sql_read_schema_id(struct store *store, struct schema_id *id);

/* Writes the version and the edition of this program's schema into the header. */
bool sql_write_schema_id(struct store *store);

/* SQLite's connection, for calls that are not statements. */
sqlite3 *sql_handle(struct store *store);

/* Makes SQLite write the frames of a commit by one call; it writes each by two otherwise. To be
 * called once, before the first database is opened. Returns SQLite's error. */
int sqlite_wal_join_writes(void);

/* Whether the connection has the lock of the writer. */
bool sqlite_wal_is_writer(sqlite3 *db);

/* Copies the write-ahead log into the database: a checkpoint with the mode RESTART or TRUNCATE,
 * which take the writer's lock, so that no commit can overlap it (SQLite before 3.51.3 may lose
 * frames otherwise). It waits for another writer, at most for the lock timeout, but not for
 * readers, since all writers would wait as long. Returns SQLite's error, that of a
 * busy file while others need the log. */
int sqlite_checkpoint(struct store *store, int mode);

/* Runs several statements of constant text, such as the schema. */
bool sql_script(struct store *store, const char *sql);

/* Returns the integer that a PRAGMA or a SELECT gives; -1 on failure. */
int64_t sql_integer(struct store *store, const char *sql);

/* The same for a text, copied into `arena`; NULL when there is none, and on failure. */
const char *sql_text(struct store *store, struct arena *arena, const char *sql);

/* --- sqlite_part.c --- */

/* Parses the schema of the new connection `db` up to the last of the tables of users, API tokens,
 * plans, accounts and lines, with their indexes; `init` creates these tables first. SQLite parses
 * the whole schema of a database for its first statement, which is most of the work of a CGI
 * process that only reads some rows. Only for a connection that never writes: its triggers and the
 * indexes of a migration may be missing. On failure the next statement parses all of the schema,
 * and has the error. */
void sqlite_part_read(sqlite3 *db);

/* Makes the next statement parse all of the schema, such as after an unknown table. */
void sqlite_part_forget(sqlite3 *db);

/* --- for the CLI only --- */

/* store_migrate (store/upkeep.h) for a SQLite database. */
enum store_result sqlite_migrate(const char *path, int *from, int *to, struct store **store);

/* Whether a database has the tables, indexes, views and triggers of schema.sql, and no other. A
 * trigger acts in each write, also with the content of a backup that a person changed; without a
 * table each request fails. Returns what differs first, for a database of an older schema version
 * only a trigger that does something else than the triggers of the schema, as a sentence without a
 * subject in `arena` (`has the trigger x on the table y, which this program did not make`); NULL:
 * nothing, or a failure, which is latched. Checks of tables are not compared. */
const char *sqlite_compare_objects(struct store *store, bool is_older, struct arena *arena);

/* Copies a consistent snapshot of the database to the new file `path` (mode 0600) and syncs it.
 * STORE_CONFLICT: the file exists. On any other failure the partial file is left. */
enum store_result sql_copy(struct store *store, const char *path);

/* Fails because of errno: `cannot DID PATH`. STORE_CONFLICT: the file exists; STORE_FULL: no space
 * left; else STORE_UNAVAILABLE. */
enum store_result sql_refuse_file(struct store *store, const char *did, const char *path);

#endif
