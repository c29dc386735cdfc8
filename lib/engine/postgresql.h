/* Internal to the PostgreSQL driver: its connection, and what only PostgreSQL needs. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_H

#include <libpq-fe.h>

#include "engine/maintenance.h"
#include "engine/schema.h"

struct hosts;

extern const struct driver postgresql_driver;
extern const struct upkeep postgresql_upkeep;

/* Connects to the server that `target` names, without a look at the schema. Fails like store_open.
 * The reason of a failure never has a password. */
enum store_result postgresql_connect(const char *target, bool for_reading, struct store **store);

/* libpq's connection, for calls that are not statements. */
PGconn *postgresql_handle(struct store *store);

/* The hosts of the URL, and the sslmode of a connection that counts. */
const struct hosts *postgresql_hosts(const struct store *store);
const char *postgresql_sslmode(PGconn *db, struct arena *arena);

/* Whether the URL says that a pooler is between, which gives each transaction another connection.
 */
bool postgresql_is_pooled(const struct store *store);

/* Returns the name of the role in the target's URL, in `arena`; NULL: it names none, or is no URL
 * that libpq reads. */
const char *postgresql_user(const char *target, struct arena *arena);

/* Runs SQL of constant text without parameters; false on failure. */
bool postgresql_script(struct store *store, const char *sql);

/* Returns the first column of the first row as an integer; -1 when there is no row, and on failure.
 */
int64_t postgresql_integer(struct store *store, const char *sql);

/* The same for a text, copied into `arena`; NULL when there is none, and on failure. */
const char *postgresql_text(struct store *store, struct arena *arena, const char *sql);

/* Reads the version and the edition of the schema. Returns false on failure, also if there is no
 * schema. */
bool postgresql_read_schema_id(struct store *store, struct schema_id *id);

/* The functions of struct upkeep that have files of their own. */
enum store_result postgresql_migrate(const char *target, int *from, int *to, struct store **store);
enum store_result postgresql_admit_reader(struct store *store, struct arena *arena,
                                          const char *reader, const char **role);

#endif
