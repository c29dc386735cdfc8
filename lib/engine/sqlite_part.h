/* The part of an SQLite database's schema that me and authentication need. SQLite parses the whole
 * schema of a database for its first statement, which is most of the work of a CGI process that
 * only reads some rows. */
#ifndef SWITCHBOARD_ENGINE_SQLITE_PART_H
#define SWITCHBOARD_ENGINE_SQLITE_PART_H

struct sqlite3;

/* Parses the schema of the new connection `db` up to the last of the tables of users, API tokens,
 * plans, accounts and lines, with their indexes; `init` creates these tables first. Only for a
 * connection that never writes: its triggers and the indexes of a migration may be missing. On
 * failure the next statement parses all of the schema, and has the error. */
void sqlite_part_read(struct sqlite3 *db);

/* Makes the next statement parse all of the schema, such as after an unknown table. */
void sqlite_part_forget(struct sqlite3 *db);

#endif
