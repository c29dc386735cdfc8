/* Internal to the SQLite driver: whether a database has the tables, indexes, views and triggers of
 * schema.sql, and no other. A trigger acts in each write, also with the content of a backup that a
 * person changed; without a table each request fails. */
#ifndef SWITCHBOARD_ENGINE_SQLITE_OBJECTS_H
#define SWITCHBOARD_ENGINE_SQLITE_OBJECTS_H

#include "engine/database.h"

/* Returns what differs first, for a database of an older schema version only a trigger that does
 * something else than the triggers of the schema, as a sentence without a subject in `arena` (`has
 * the trigger x on the table y, which this program did not make`); NULL: nothing, or a failure,
 * which is latched. Checks of tables are not compared. */
const char *sqlite_compare_objects(struct store *store, bool is_older, struct arena *arena);

#endif
