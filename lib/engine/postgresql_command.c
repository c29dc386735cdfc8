/* Commands of constant text without parameters. */
#include "engine/postgresql_connection.h"

#include <stdlib.h>

static PGresult *run(struct store *store, const char *sql) {
    struct connection *c = connection_of(store);
    postgresql_receive(c);
    PGresult *result = store->failure ? NULL : PQexec(c->db, sql);
    if (!store->failure)
        postgresql_latch(c, result);
    return result;
}

bool postgresql_script(struct store *store, const char *sql) {
    PQclear(run(store, sql));
    return !store->failure;
}

int64_t postgresql_integer(struct store *store, const char *sql) {
    PGresult *result = run(store, sql);
    int64_t value = -1;
    if (!store->failure && PQntuples(result) && !PQgetisnull(result, 0, 0))
        value = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return value;
}

const char *postgresql_text(struct store *store, struct arena *arena, const char *sql) {
    PGresult *result = run(store, sql);
    const char *value = NULL;
    if (!store->failure && PQntuples(result) && !PQgetisnull(result, 0, 0))
        value = arena_copy(arena, slice_of(PQgetvalue(result, 0, 0)));
    PQclear(result);
    return value;
}
