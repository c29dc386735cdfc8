/* Internal to the PostgreSQL driver: the functions in the driver's table. driver.h says what they
 * do. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_DRIVER_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_DRIVER_H

#include "engine/driver.h"

/* --- postgresql_session.c --- */

/* Starts a session with the primary, on a new connection. */
enum store_result postgresql_begin_session(struct store *store);

bool postgresql_is_alive(struct store *store, const char *target);

/* --- postgresql_connection.c --- */

/* postgresql_connect, for a store of this driver. */
enum store_result postgresql_make(const struct driver *driver, const char *target, bool for_reading,
                                  struct store **store);

void postgresql_close(struct store *store);
int postgresql_forbid_reconnecting(struct store *store);
enum store_result postgresql_set_lock_timeout(struct store *store, int ms);

/* --- postgresql_statement.c --- */

bool postgresql_prepare(struct store *store, struct statement *statement);
void postgresql_drop(struct statement *statement);
void postgresql_start(struct store *store, struct statement *statement,
                      const struct parameter *parameters, size_t count);
bool postgresql_row(struct store *store, struct statement *statement);
void postgresql_stop(struct statement *statement);
void postgresql_ignore(struct statement *statement);
void postgresql_wait(struct store *store);
int postgresql_changes(const struct store *store);
int64_t postgresql_total_changes(const struct store *store);
struct slice postgresql_column(const struct statement *statement, int column);
int64_t postgresql_column_integer(const struct statement *statement, int column);
bool postgresql_is_null(const struct statement *statement, int column);

/* --- postgresql_transaction.c --- */

bool postgresql_begin(struct store *store);
void postgresql_commit(struct store *store);

/* --- postgresql_exchange.c --- */

void postgresql_limit_work(struct store *store, int64_t most);
void postgresql_limit_time(struct store *store, int64_t ms);
bool postgresql_is_within_limit(struct store *store, int64_t own);

/* --- postgresql_repetition.c --- */

bool postgresql_repeat(struct store *store);

/* --- postgresql_statistics.c --- */

enum store_result postgresql_tend(struct store *store, int64_t now);

/* --- postgresql_lock.c --- */

void postgresql_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                     const char *const *names, size_t count);
int64_t postgresql_lock_space(enum sql_lock_kind kind, const char *owner);
/* The text of a statement that takes a lock, with the lock; NULL: out of memory. The caller frees
 * it. */
char *postgresql_with_lock(const char *sql);
bool postgresql_try_lock(struct store *store, enum sql_lock_kind kind, const char *owner,
                         const char *const *names, size_t count);

#endif
