/* Internal to the SQLite driver: copying a database. */
#ifndef SWITCHBOARD_ENGINE_SQLITE_COPY_H
#define SWITCHBOARD_ENGINE_SQLITE_COPY_H

#include "engine/sqlite.h"

/* Copies a consistent snapshot of the database to the new file `path` (mode 0600) and syncs it.
 * STORE_CONFLICT: the file exists. On any other failure the partial file is left. */
enum store_result sql_copy(struct store *store, const char *path);

/* Fails because of errno: `cannot DID PATH`. STORE_CONFLICT: the file exists; STORE_FULL: no space
 * left; else STORE_UNAVAILABLE. */
enum store_result sql_refuse_file(struct store *store, const char *did, const char *path);

#endif
