/* Which host of the URL is the primary. A primary whose cluster manager has died goes on taking
 * connections after another server was promoted: it still says that it takes writes, answers reads
 * with what is old by then, and its commits wait for a standby that does not come back. It cannot
 * know that; its synchronous standby, which became the other primary, has left it, and that one has
 * a higher timeline. */
#include "engine/postgresql_connection.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"

enum {
    JUDGE_AGAIN_MS = 100,    /* a promotion takes longer, from the end of the replication on */
    UNDECIDED_MS = 5 * 1000, /* the wait for a promotion, or for the cluster manager, */
    CONFINED_MS = 2500,      /* and that of a process that may not ask the others */
    ACCEPTED_MS = 5 * 1000,  /* how long a suspect without another primary is not judged again */
    PAUSE_MS = 100,
};

/* The newest primary that this process has seen. */
static struct { int64_t system, timeline; } newest;

/* A role without pg_read_all_stats sees the standbys, but not which of them is synchronous: any
 * counts then. */
#define IS_ALONE                                                                                   \
    "current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery() "              \
    "AND current_setting('synchronous_commit') NOT IN ('off', 'local') "                           \
    "AND NOT EXISTS (SELECT 1 FROM pg_stat_get_wal_senders() "                                     \
    "WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum'))"

const char postgresql_standing[] =
    IS_ALONE ", (SELECT system_identifier FROM pg_control_system()), "
             "CASE WHEN pg_is_in_recovery() THEN 0 ELSE CAST(CAST('x' || "
             "left(pg_walfile_name(pg_current_wal_lsn()), 8) AS bit(32)) AS bigint) END";

static void read_alone(struct connection *c, const PGresult *result, int column) {
    c->primary.is_alone = *PQgetvalue(result, 0, column) == 't';
    c->primary.judged_at = clock_boot();
    c->store.is_stuck = c->primary.is_alone;
}

void postgresql_read_standing(struct connection *c, const PGresult *result, int column) {
    read_alone(c, result, column);
    c->primary.system = strtoll(PQgetvalue(result, 0, column + 1), NULL, 10);
    c->primary.timeline = strtoll(PQgetvalue(result, 0, column + 2), NULL, 10);
    c->primary.accepted_until = 0;
    if (newest.system != c->primary.system)
        newest.timeline = 0;
    newest.system = c->primary.system;
    if (newest.timeline < c->primary.timeline)
        newest.timeline = c->primary.timeline;
}

static bool is_former(const struct connection *c) {
    return c->primary.timeline && c->primary.system == newest.system &&
           c->primary.timeline < newest.timeline;
}

bool postgresql_is_suspect(const struct connection *c) {
    return is_former(c) || ((c->primary.is_alone || c->is_hanging) && hosts_are_several(&c->hosts));
}

void postgresql_pause(void) {
    poll(NULL, 0, PAUSE_MS);
}

/* --- asking the other hosts --- */

static bool is_later(const struct connection *c, PGconn *db) {
    char sql[1200];
    snprintf(sql, sizeof sql, "SELECT %s", postgresql_standing);
    PGresult *result = PQexec(db, sql);
    const bool is_later = PQresultStatus(result) == PGRES_TUPLES_OK &&
                          strtoll(PQgetvalue(result, 0, 1), NULL, 10) == c->primary.system &&
                          strtoll(PQgetvalue(result, 0, 2), NULL, 10) > c->primary.timeline;
    PQclear(result);
    return is_later;
}

/* The others refuse the connection as standbys, of which one may become the primary soon. */
static bool is_standby(const PGconn *db) {
    return postgresql_is_refused_by_standby(PQerrorMessage(db));
}

enum primary postgresql_find_primary(struct connection *c) {
    struct hosts others = c->hosts;
    if (!hosts_remove(&others, c->db))
        return PRIMARY_STAYS;
    PGconn *db = postgresql_connect_to(c->url, &others, c->is_reader);
    const bool is_connected = db && PQstatus(db) == CONNECTION_OK;
    if (is_connected && is_later(c, db)) {
        log_message(LOG_WARN, "database: %s:%s is a former primary, which %s:%s has replaced",
                    PQhost(c->db), PQport(c->db), PQhost(db), PQport(db));
        postgresql_replace(c, db);
        return PRIMARY_MOVED;
    }
    const enum primary found =
        db && !is_connected && is_standby(db) ? PRIMARY_UNDECIDED : PRIMARY_STAYS;
    PQfinish(db);
    return found;
}

enum store_result postgresql_accept(struct connection *c) {
    c->is_hanging = false;
    c->primary.accepted_until = clock_boot() + ACCEPTED_MS;
    if (!is_former(c))
        return STORE_OK;
    postgresql_set_fault(c, FAULT_CONNECTION);
    return sql_refuse(&c->store, STORE_UNAVAILABLE,
                      "%s:%s is a former primary, of timeline %lld: this program has seen that of "
                      "timeline %lld, which cannot be reached now; if that one is gone for good, "
                      "restart the program",
                      PQhost(c->db), PQport(c->db), (long long)c->primary.timeline,
                      (long long)newest.timeline);
}

bool postgresql_may_wait(int64_t since) {
    return clock_monotonic() - since < UNDECIDED_MS;
}

/* --- before a request --- */

/* Without an answer nothing changes: the next statement reports that. */
static void judge(struct connection *c) {
    PGresult *result = postgresql_finish(c, "SELECT " IS_ALONE);
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        read_alone(c, result, 0);
    PQclear(result);
}

/* A process that may not connect waits for the cluster manager to release the server from its
 * standby. */
static bool is_judged_well(struct connection *c) {
    const int64_t since = clock_monotonic();
    judge(c);
    while (!c->may_connect && postgresql_is_usable(c) && postgresql_is_suspect(c) &&
           clock_monotonic() - since < CONFINED_MS) {
        postgresql_pause();
        judge(c);
    }
    return !postgresql_is_suspect(c);
}

bool postgresql_is_primary(struct connection *c) {
    const int64_t now = clock_boot();
    if (!hosts_are_several(&c->hosts) || now < c->primary.accepted_until ||
        now - c->primary.judged_at < JUDGE_AGAIN_MS || is_judged_well(c))
        return true;
    postgresql_set_fault(c, FAULT_CONNECTION);
    sql_refuse(&c->store, STORE_UNAVAILABLE,
               "the synchronous standby of %s:%s is gone, and may be the primary now",
               PQhost(c->db), PQport(c->db));
    return false;
}
