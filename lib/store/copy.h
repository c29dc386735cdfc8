/* Inside of the store: copying a database. */
#ifndef SWITCHBOARD_STORE_COPY_H
#define SWITCHBOARD_STORE_COPY_H

#include "store/sqlite.h"

/* Copies the database as of one moment to the new file `path` (mode 0600) and flushes it to disk.
 * STORE_CONFLICT: the file exists. On another failure what was written stays. */
enum store_result sql_copy(struct store *store, const char *path);

#endif
