/* What a program does on each new connection, before its first statement. */
#include "store/postgresql_connection.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/postgresql_clock.h"
#include "store/postgresql_driver.h"
#include "store/schema.h"

/* A table of a development version may have no column `edition`: it has SCHEMA_EDITION_NONE. */
#define VERSION "(SELECT version FROM schema_version)"
#define EDITION                                                                                    \
    "(SELECT CAST(coalesce(to_jsonb(s) ->> 'edition', '0') AS bigint) FROM schema_version s)"
#define CLOCK_AND_SCHEMA SERVER_CLOCK ", " VERSION ", " EDITION

bool postgresql_read_schema_id(struct store *store, struct schema_id *id) {
    id->version = postgresql_integer(store, "SELECT " VERSION);
    id->edition = (int)postgresql_integer(store, "SELECT " EDITION);
    return !sql_failed(store);
}

/* Judges what start_session has read, NULL for an empty table; or its failure. */
static enum store_result check_schema(struct store *store, const struct schema_id *found) {
    char reason[512];
    enum store_result result = sql_result(store);
    const bool is_missing =
        result == STORE_OK ? !found : strstr(store->reason, UNDEFINED_TABLE) != NULL;
    if (result != STORE_OK && !is_missing)
        return result; /* the reason is that of the server */
    if (is_missing)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has no schema of this program: run `switchboard init`");
    if (found->version < 0)
        return sql_refuse_moved(store, STORE_UNAVAILABLE, SCHEMA_CLOSED);
    if (schema_mismatch(found, reason, sizeof reason))
        return sql_refuse(store, STORE_UNAVAILABLE, "%s", reason);
    return STORE_OK;
}

/* Sets up the session and reads the version of the schema, in one round trip. A pooled connection
 * is shared, so it gets no settings: there the role of the target may only read. */
static enum store_result start_session(struct connection *c) {
    struct reading clock;
    struct schema_id found;
    bool has_schema = false;
    postgresql_set_fault(c, FAULT_OTHER);
    const int64_t before = clock_boot();
    PGresult *result =
        PQexec(c->db, c->is_reader && !c->is_pooled
                          ? "SELECT " CLOCK_AND_SCHEMA
                            ", set_config('default_transaction_read_only', 'on', false)"
                          : "SELECT " CLOCK_AND_SCHEMA);
    postgresql_read_clock(&clock, result, before);
    postgresql_latch(c, result);
    if (!c->store.failure && !PQgetisnull(result, 0, 1)) {
        found.version = strtoll(PQgetvalue(result, 0, 1), NULL, 10);
        found.edition = (int)strtol(PQgetvalue(result, 0, 2), NULL, 10);
        has_schema = true;
    }
    PQclear(result);
    if (!c->store.failure)
        postgresql_follow_clock(&c->store, &clock);
    return check_schema(&c->store, has_schema ? &found : NULL);
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
