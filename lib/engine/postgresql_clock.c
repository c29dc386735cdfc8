/* The hosts of one database compare their times with each other: leases, idempotency keys,
 * sessions. So all of them use the clock of the server, whatever their own clocks show. */
#include <stdlib.h>

#include "base/clock.h"
#include "engine/postgresql_clock.h"

enum {
    READ_AGAIN_MS = 10 * 1000,
    GOOD_MS = 50, /* an answer within it is precise enough */
    READINGS = 3, /* at most, until there is a good one */
};

static int64_t read_at; /* by clock_boot; of the process, since clock_now is of the process */

/* An answer shows the server's clock at a time within the round trip, about its middle. */
void postgresql_read_clock(struct reading *reading, const PGresult *result, int64_t before) {
    const int64_t trip = clock_boot() - before;
    *reading = (struct reading){.trip = INT64_MAX};
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
        *reading = (struct reading){.now = strtoll(PQgetvalue(result, 0, 0), NULL, 10),
                                    .boot = before + trip / 2,
                                    .trip = trip};
}

static struct reading read_again(PGconn *db) {
    struct reading reading;
    const int64_t before = clock_boot();
    PGresult *result = PQexec(db, "SELECT " SERVER_CLOCK);
    postgresql_read_clock(&reading, result, before);
    PQclear(result);
    return reading;
}

void postgresql_follow_clock(PGconn *db, const struct reading *first) {
    struct reading best = *first;
    for (int i = 1; i < READINGS && best.trip > GOOD_MS; i++) {
        const struct reading reading = read_again(db);
        if (reading.trip < best.trip)
            best = reading;
    }
    if (best.trip == INT64_MAX)
        return; /* the connection is lost, which its next statement reports */
    clock_follow(best.now, best.boot);
    read_at = clock_boot();
}

void postgresql_set_clock(PGconn *db) {
    const struct reading first = read_again(db);
    postgresql_follow_clock(db, &first);
}

void postgresql_tend_clock(PGconn *db) {
    if (clock_boot() - read_at >= READ_AGAIN_MS)
        postgresql_set_clock(db);
}
