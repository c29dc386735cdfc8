/* What a program does on each new connection, before its first statement, and between requests. */
#include "engine/postgresql_connection.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/postgresql_clock.h"
#include "engine/schema.h"

/* A table of a development version may have no column `edition`: it has SCHEMA_EDITION_NONE. */
#define VERSION "(SELECT version FROM schema_version)"
#define EDITION                                                                                    \
    "(SELECT CAST(coalesce(to_jsonb(s) ->> 'edition', '0') AS bigint) FROM schema_version s)"
#define CLOCK_AND_SCHEMA SERVER_CLOCK ", " VERSION ", " EDITION
enum { STANDING_COLUMN = 3 }; /* after these */

bool postgresql_read_schema_id(struct store *store, struct schema_id *id) {
    id->version = postgresql_integer(store, "SELECT " VERSION);
    id->edition = (int)postgresql_integer(store, "SELECT " EDITION);
    return !sql_failed(store);
}

/* Judges what start_session has read, NULL for an empty table; or its failure. */
static enum store_result check_schema(struct store *store, const struct schema_id *found) {
    enum store_result result = sql_result(store);
    const bool is_missing =
        result == STORE_OK ? !found : strstr(store->reason, UNDEFINED_TABLE) != NULL;
    if (result != STORE_OK && !is_missing)
        return result; /* the reason is that of the server */
    if (is_missing)
        return sql_refuse(store, STORE_UNAVAILABLE,
                          "it has no schema of this program: run `switchboard init`");
    return schema_check(store, found, false);
}

#define SET(name, value) ", set_config('" name "', '" value "', false)"

/* A statement gets one plan for all values of its parameters, which joins by indexes, as on SQLite.
 * The server would plan many of them anew for each execution, which takes longer than that; and it
 * would read the whole of a table that has few rows, with a plan that stays when it has many. */
#define PLANS                                                                                      \
    SET("plan_cache_mode", "force_generic_plan")                                                   \
    SET("enable_seqscan", "off")                                                                   \
    SET("enable_hashjoin", "off") SET("enable_mergejoin", "off") SET("jit", "off")

/* The statement of a new connection. A pooled connection is shared, so it gets no settings: there
 * the role of the target may only read. */
static PGresult *ask(struct connection *c) {
    char sql[2000];
    snprintf(sql, sizeof sql, "SELECT " CLOCK_AND_SCHEMA ", %s%s%s", postgresql_standing,
             c->is_pooled ? "" : PLANS,
             c->is_reader && !c->is_pooled ? SET("default_transaction_read_only", "on") : "");
    return PQexec(c->db, sql);
}

/* Sets up the session and reads the version of the schema and the server's standing, in one round
 * trip. */
static enum store_result start_session(struct connection *c) {
    struct reading clock;
    struct schema_id found;
    bool has_schema = false;
    postgresql_set_fault(c, FAULT_OTHER);
    const int64_t before = clock_boot();
    PGresult *result = ask(c);
    postgresql_read_clock(&clock, result, before);
    postgresql_latch(c, result);
    if (!c->store.failure && !PQgetisnull(result, 0, 1)) {
        found.version = strtoll(PQgetvalue(result, 0, 1), NULL, 10);
        found.edition = (int)strtol(PQgetvalue(result, 0, 2), NULL, 10);
        has_schema = true;
    }
    if (!c->store.failure)
        postgresql_read_standing(c, result, STANDING_COLUMN);
    PQclear(result);
    if (!c->store.failure)
        postgresql_follow_clock(c->db, &clock);
    return check_schema(&c->store, has_schema ? &found : NULL);
}

/* Starts a session with the primary: if the server may be a former one, the other hosts are asked,
 * and while one of them is being promoted or the cluster manager has not decided, again. */
static enum store_result start_with_primary(struct connection *c) {
    const int64_t since = clock_monotonic();
    enum store_result result = start_session(c);
    while (result == STORE_OK && postgresql_is_suspect(c)) {
        const enum primary found = postgresql_find_primary(c);
        if (found == PRIMARY_STAYS || (found == PRIMARY_UNDECIDED && !postgresql_may_wait(since)))
            return postgresql_accept(c);
        if (found == PRIMARY_UNDECIDED)
            postgresql_pause();
        result = start_session(c);
    }
    return result;
}

enum store_result postgresql_begin_session(struct store *store) {
    return start_with_primary(connection_of(store));
}

bool postgresql_connect_again(struct connection *c) {
    const bool is_hanging = c->is_hanging;
    c->store.failure = STORE_OK;
    postgresql_forget_pending(c);
    postgresql_forget_awaited(c);
    postgresql_replace(c, postgresql_connect_to(c->url, &c->hosts, c->is_reader));
    c->is_hanging = is_hanging;
    c->store.failure =
        PQstatus(c->db) == CONNECTION_OK ? start_with_primary(c) : postgresql_refuse_connection(c);
    return !c->store.failure;
}

/* Reads what the server has sent without a command, such as the end of the connection. */
static void read_messages(struct connection *c) {
    struct pollfd socket = {.fd = PQsocket(c->db), .events = POLLIN};
    while (PQstatus(c->db) == CONNECTION_OK && poll(&socket, 1, 0) > 0)
        if (PQconsumeInput(c->db))
            PQisBusy(c->db); /* handles the message */
}

/* An end of the connection that has arrived already is noticed here; a later one by a statement. */
bool postgresql_is_alive(struct store *store, const char *target) {
    struct connection *c = connection_of(store);
    if (strcmp(c->target, target) != 0) {
        sql_refuse(store, STORE_UNAVAILABLE, "it is another database now");
        return false;
    }
    if (postgresql_is_usable(c) && PQtransactionStatus(c->db) == PQTRANS_IDLE) {
        postgresql_tend_clock(c->db);
        if (!postgresql_is_primary(c))
            return false;
    }
    if (c->may_connect)
        return true;
    read_messages(c);
    if (postgresql_is_usable(c) && PQtransactionStatus(c->db) == PQTRANS_IDLE)
        return true;
    postgresql_set_fault(c, FAULT_CONNECTION);
    sql_refuse(store, STORE_UNAVAILABLE, "the server ended the connection");
    return false;
}
