#include "store/housekeeping.h"

#include <stdio.h>

#include "store/sqlite.h"

#define DAYS (24 * 60 * 60 * INT64_C(1000))

enum { PRUNED_AT_ONCE = 500 }; /* a short transaction: others wait for it */

static const int64_t kept_done = 7 * DAYS;
static const int64_t kept_dead = 30 * DAYS;
static const int64_t longest_wait = 3 * DAYS;        /* a retry is at most 2 days ahead */
static const int64_t longest_probe_wait = DAYS / 12; /* a probe is one hour ahead */

enum store_result store_set_patience(struct store *store, int ms) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA busy_timeout = %d", ms);
    sql_script(store, sql);
    return sql_result(store);
}

enum store_result store_beat(struct store *store, const char *name, pid_t pid, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO heartbeat (name, pid, beat_at) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (name) DO UPDATE SET pid = excluded.pid, beat_at = excluded.beat_at"};
    if (sql_begin(store))
        sql_run(store, &s, TEXT(name), INTEGER(pid), INTEGER(now));
    return sql_commit(store);
}

enum store_result store_find_beat(struct store *store, const char *name, int64_t *beat_at) {
    static struct statement s = {.sql = "SELECT beat_at FROM heartbeat WHERE name = ?1"};
    *beat_at = INT64_MIN;
    sql_start(store, &s, TEXT(name));
    if (sql_row(store, &s)) {
        *beat_at = column_integer(&s, 0);
        sql_stop(&s);
    }
    return sql_result(store);
}

enum store_result store_prune_events(struct store *store, int64_t now, size_t *removed) {
#define OLD_EVENTS                                                                                 \
    "(SELECT id FROM event WHERE finished_at <= ?1 AND (state <> 'dead' OR finished_at <= ?2) "    \
    "ORDER BY finished_at LIMIT ?3)"
    static struct statement attempts = {
        .sql = "DELETE FROM event_attempt WHERE event_id IN " OLD_EVENTS};
    static struct statement events = {.sql = "DELETE FROM event WHERE id IN " OLD_EVENTS};
    const struct parameter old[] = {INTEGER(now - kept_done), INTEGER(now - kept_dead),
                                    INTEGER(PRUNED_AT_ONCE)};
    *removed = 0;
    if (sql_begin(store) && sql_run(store, &attempts, old[0], old[1], old[2]) &&
        sql_run(store, &events, old[0], old[1], old[2]))
        *removed = (size_t)sql_changes(store);
    return sql_commit(store);
}

enum store_result store_mend_times(struct store *store, int64_t now) {
    static struct statement events = {.sql = "UPDATE event SET next_attempt_at = ?1 "
                                             "WHERE state = 'pending' AND next_attempt_at > ?2"};
    static struct statement webhooks = {
        .sql = "UPDATE webhook SET next_probe_at = CASE WHEN next_probe_at > ?2 THEN ?1 "
               "ELSE next_probe_at END, suspended_at = CASE WHEN suspended_at > ?2 THEN ?1 "
               "ELSE suspended_at END, failing_since = CASE WHEN failing_since > ?2 THEN ?1 "
               "ELSE failing_since END, updated_at = CASE WHEN updated_at > ?2 THEN ?1 "
               "ELSE updated_at END WHERE next_probe_at > ?2 OR suspended_at > ?2 "
               "OR failing_since > ?2 OR updated_at > ?2"};
    if (sql_begin(store) && sql_run(store, &events, INTEGER(now), INTEGER(now + longest_wait)))
        sql_run(store, &webhooks, INTEGER(now), INTEGER(now + longest_probe_wait));
    return sql_commit(store);
}

int64_t store_data_version(struct store *store) {
    int64_t version = sql_integer(store, "PRAGMA data_version");
    return sql_result(store) == STORE_OK ? version : -1;
}

enum store_result store_checkpoint(struct store *store, bool cuts_log) {
    int64_t busy = sql_integer(store, cuts_log ? "PRAGMA wal_checkpoint(TRUNCATE)"
                                               : "PRAGMA wal_checkpoint(RESTART)");
    enum store_result result = sql_result(store);
    return result == STORE_OK && busy ? STORE_BUSY : result;
}
