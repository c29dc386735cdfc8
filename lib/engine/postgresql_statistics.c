/* Statistics of tables that grow faster than the server's autovacuum looks at them.
 *
 * A connection keeps the plan of a statement until the table is analyzed or vacuumed. That of an
 * empty table may use any index or none, since all cost the same, and then reads all rows of an
 * account for each lookup. Autovacuum looks once a minute, and not at all after pg_upgrade, which
 * does not carry the statistics over. */
#include "engine/postgresql_connection.h"

#include <stdio.h>

#include "base/clock.h"

enum {
    EVERY_MS = 1000,
    MOST_MS = 200,   /* of each call: the courier has other work */
    NAME_SIZE = 160, /* a quoted identifier of 63 bytes */
};

/* Pages of 8 KiB. A scan of a smaller table takes less than a millisecond. With the statistics of a
 * larger one the server already prefers the right index, and autovacuum renews them. */
#define LEAST_PAGES "8"
#define MOST_PAGES  "8192"

/* Finds the next table whose size has doubled since its statistics were made. */
static bool find_grown(struct store *store, char name[NAME_SIZE]) {
    static struct statement s = {
        .sql = "SELECT quote_ident(relname) FROM (SELECT relname, relpages, "
               "pg_relation_size(oid) / current_setting('block_size')::int AS pages FROM pg_class "
               "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace "
               "AND quote_ident(relname) > ?1 AND pg_has_role(relowner, 'USAGE')) AS of_role "
               "WHERE pages BETWEEN " LEAST_PAGES " AND " MOST_PAGES " AND pages > 2 * relpages "
               "ORDER BY quote_ident(relname) LIMIT 1"};
    sql_start(store, &s, TEXT(name));
    if (!sql_row(store, &s))
        return false;
    const struct slice found = store->driver->column(&s, 0);
    snprintf(name, NAME_SIZE, "%.*s", (int)found.n, found.p);
    sql_stop(&s);
    return true;
}

enum store_result postgresql_tend(struct store *store, int64_t now) {
    struct connection *c = connection_of(store);
    char name[NAME_SIZE] = "";
    if (now < c->next_statistics)
        return STORE_OK;
    c->next_statistics = now + EVERY_MS;
    while (find_grown(store, name) && clock_monotonic() < now + MOST_MS)
        /* the next look sends the command, which does not wait for a lock */
        postgresql_add_pending(c, "ANALYZE (SKIP_LOCKED) %s", name);
    return sql_result(store);
}
