/* Internal to the SQLite driver: copying and migrating a database. */
#ifndef SWITCHBOARD_ENGINE_COPY_H
#define SWITCHBOARD_ENGINE_COPY_H

#include "engine/sqlite.h"

/* Copies a consistent snapshot of the database to the new file `path` (mode 0600) and syncs it.
 * STORE_CONFLICT: the file exists. On any other failure the partial file is left. */
enum store_result sql_copy(struct store *store, const char *path);

/* store_migrate for a SQLite database. */
enum store_result sqlite_migrate(const char *path, int *from, int *to, struct store **store);

#endif
