/* Internal to the PostgreSQL driver: its connection, and what only PostgreSQL needs. */
#ifndef SWITCHBOARD_STORE_POSTGRESQL_H
#define SWITCHBOARD_STORE_POSTGRESQL_H

#include <libpq-fe.h>

#include "store/driver.h"

extern const struct driver postgresql_driver;
extern const struct upkeep postgresql_upkeep;

/* Connects to the server that `target` names, without a look at the schema. Fails like store_open.
 * The reason of a failure never has a password. */
enum store_result postgresql_connect(const char *target, bool for_reading, struct store **store);

/* libpq's connection, for calls that are not statements. */
PGconn *postgresql_handle(struct store *store);

/* Runs SQL of constant text without parameters; false on failure. */
bool postgresql_script(struct store *store, const char *sql);

/* Returns the first column of the first row as an integer; -1 when there is no row, and on failure.
 */
int64_t postgresql_integer(struct store *store, const char *sql);

/* The same for a text, copied into `arena`; NULL when there is none, and on failure. */
const char *postgresql_text(struct store *store, struct arena *arena, const char *sql);

#endif
