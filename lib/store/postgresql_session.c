/* What a program does on each new connection, before its first statement. */
#include "store/postgresql_connection.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/postgresql_clock.h"
#include "store/postgresql_driver.h"
#include "store/schema.h"

#define CLOCK_AND_VERSION SERVER_CLOCK ", (SELECT version FROM schema_version)"

/* Judges the version that start_session has read, -1 without one; or its failure. */
static enum store_result check_version(struct store *store, int64_t version) {
    enum store_result result = sql_result(store);
    const bool is_missing =
        result == STORE_OK ? version == -1 : strstr(store->reason, UNDEFINED_TABLE) != NULL;
    if (result != STORE_OK && !is_missing)
        return result; /* the reason is that of the server */
    if (is_missing)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has no schema of this program: run `switchboard init`");
    if (version < 0)
        return sql_refuse_moved(store, STORE_UNAVAILABLE, SCHEMA_CLOSED);
    if (version < SCHEMA_VERSION)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has schema version %d, this program needs %d: run `switchboard init`",
                          (int)version, SCHEMA_VERSION);
    if (version > SCHEMA_VERSION)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has schema version %d, made by a newer program; this one supports %d",
                          (int)version, SCHEMA_VERSION);
    return STORE_OK;
}

/* Sets up the session and reads the version of the schema, in one round trip. A pooled connection
 * is shared, so it gets no settings: there the role of the target may only read. */
static enum store_result start_session(struct connection *c) {
    struct reading clock;
    int64_t version = -1;
    postgresql_set_fault(c, FAULT_OTHER);
    const int64_t before = clock_boot();
    PGresult *result =
        PQexec(c->db, c->is_reader && !c->is_pooled
                          ? "SELECT " CLOCK_AND_VERSION
                            ", set_config('default_transaction_read_only', 'on', false)"
                          : "SELECT " CLOCK_AND_VERSION);
    postgresql_read_clock(&clock, result, before);
    postgresql_latch(c, result);
    if (!c->store.failure && !PQgetisnull(result, 0, 1))
        version = strtoll(PQgetvalue(result, 0, 1), NULL, 10);
    PQclear(result);
    if (!c->store.failure)
        postgresql_follow_clock(&c->store, &clock);
    return check_version(&c->store, version);
}

/* Connects again. The new session has no prepared statement. False after latching the failure. */
bool postgresql_connect_again(struct connection *c) {
    c->store.failure = STORE_OK;
    c->is_broken = c->is_open = false;
    postgresql_forget_pending(c);
    postgresql_forget_awaited(c);
    PQreset(c->db);
    for (struct statement *s = c->store.prepared; s; s = s->next)
        *((struct prepared *)s->prepared)->name = '\0';
    c->store.failure =
        PQstatus(c->db) == CONNECTION_OK ? start_session(c) : postgresql_refuse_connection(c);
    return !c->store.failure;
}

enum store_result postgresql_open(const char *target, bool for_reading, struct store **store) {
    enum store_result result = postgresql_connect(target, for_reading, store);
    return result == STORE_OK ? start_session(connection_of(*store)) : result;
}
