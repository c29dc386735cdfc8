/* The hosts of one database compare their times with each other: leases, idempotency keys,
 * sessions. So all of them use the clock of the server, whatever their own clocks show. */
#include <stdlib.h>

#include "base/clock.h"
#include "store/postgresql.h"

enum {
    READ_AGAIN_MS = 10 * 1000,
    GOOD_MS = 50, /* an answer within it is precise enough */
    READINGS = 3, /* at most, until there is a good one */
};

static int64_t read_at; /* by clock_boot; of the process, since clock_now is of the process */

/* Reads the server's clock; the answer shows it at a time within the round trip, about its middle.
 * Returns the duration of the round trip; INT64_MAX: no answer. */
static int64_t read_clock(struct store *store, int64_t *now, int64_t *boot) {
    const int64_t before = clock_boot();
    PGresult *result =
        PQexec(postgresql_handle(store),
               "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)");
    const int64_t trip = clock_boot() - before;
    const bool has_answer = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
    if (has_answer)
        *now = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    *boot = before + trip / 2;
    PQclear(result);
    return has_answer ? trip : INT64_MAX;
}

void postgresql_set_clock(struct store *store) {
    int64_t best = INT64_MAX, now = 0, boot = 0;
    for (int i = 0; i < READINGS && best > GOOD_MS; i++) {
        int64_t now_read = 0, boot_read, trip = read_clock(store, &now_read, &boot_read);
        if (trip >= best)
            continue;
        best = trip;
        now = now_read;
        boot = boot_read;
    }
    if (best == INT64_MAX)
        return; /* the connection is lost, which its next statement reports */
    clock_follow(now, boot);
    read_at = clock_boot();
}

void postgresql_tend_clock(struct store *store) {
    if (clock_boot() - read_at >= READ_AGAIN_MS)
        postgresql_set_clock(store);
}
