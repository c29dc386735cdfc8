/* Internal to the PostgreSQL driver: the server's clock, which clock_now follows. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_CLOCK_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_CLOCK_H

#include <libpq-fe.h>
#include <stdint.h>

/* SQL of the server's time in milliseconds. */
#define SERVER_CLOCK "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"

/* A reading of the server's clock. */
struct reading {
    int64_t now;  /* its time */
    int64_t boot; /* the time of clock_boot to which it belongs */
    int64_t trip; /* ms between statement and answer; INT64_MAX: there is no answer */
};

/* Takes the reading out of the first column of an answer that has just arrived; its statement was
 * sent at the time `before` of clock_boot. */
void postgresql_read_clock(struct reading *reading, const PGresult *result, int64_t before);

/* Makes clock_now follow the reading, or a later one if its round trip was long. */
void postgresql_follow_clock(PGconn *db, const struct reading *first);

/* Reads the server's clock and makes clock_now follow it. */
void postgresql_set_clock(PGconn *db);

/* The same, when the last time was more than a few seconds ago. */
void postgresql_tend_clock(PGconn *db);

#endif
