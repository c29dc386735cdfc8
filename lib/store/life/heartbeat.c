#include "store/heartbeat.h"

#include "engine/row.h"

enum store_result store_upsert_heartbeat(struct store *store,
                                         const struct store_heartbeat *heartbeat) {
    static struct statement s = {
        .sql = "INSERT INTO heartbeat (name, host, pid, beat_at, keys, clock_ahead_ms) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name, host) DO UPDATE "
               "SET pid = excluded.pid, beat_at = excluded.beat_at, ended_at = NULL, "
               "keys = excluded.keys, clock_ahead_ms = excluded.clock_ahead_ms"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(heartbeat->name), TEXT(heartbeat->host), INTEGER(heartbeat->pid),
                INTEGER(heartbeat->at), TEXT(heartbeat->keys), INTEGER(heartbeat->clock_ahead_ms));
    return sql_result(store);
}

enum store_result store_end_heartbeat(struct store *store,
                                      const struct store_heartbeat *heartbeat) {
    static struct statement s = {.sql = "UPDATE heartbeat SET beat_at = ?4, ended_at = ?4 "
                                        "WHERE name = ?1 AND host = ?2 AND pid = ?3"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(heartbeat->name), TEXT(heartbeat->host), INTEGER(heartbeat->pid),
                INTEGER(heartbeat->at));
    return sql_result(store);
}

enum store_result store_find_pulse(struct store *store, const char *name,
                                   struct store_pulse *pulse) {
    static struct statement s = {
        .sql = "SELECT max(beat_at), max(CASE WHEN ended_at IS NULL THEN beat_at END) "
               "FROM heartbeat WHERE name = ?1"};
    *pulse = (struct store_pulse){INT64_MIN, INT64_MIN};
    sql_start(store, &s, TEXT(name));
    if (sql_row(store, &s)) {
        if (!column_is_null(&s, 0))
            pulse->last = column_integer(&s, 0);
        if (!column_is_null(&s, 1))
            pulse->running = column_integer(&s, 1);
        sql_stop(&s);
    }
    return sql_result(store);
}

bool heartbeat_is_running(const struct store_pulse *pulse, int64_t now) {
    return pulse->running != INT64_MIN && (now - pulse->running) / 1000 <= HEARTBEAT_SILENT_S;
}

#define OF(member) ROW_MEMBER(struct store_heartbeat, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_heartbeat, OF(name), OF(host), OF(pid), OF(at), OF(keys),
               OF(clock_ahead_ms), ROW_TIME_MEMBER(struct store_heartbeat, ended_at));

enum store_result store_list_heartbeats(struct store *store, struct arena *arena,
                                        struct store_heartbeat **heartbeats, size_t *count) {
    static struct statement s = {.sql = "SELECT name, host, pid, beat_at, keys, clock_ahead_ms, "
                                        "ended_at FROM heartbeat WHERE name = 'courier' "
                                        "ORDER BY host"};
    sql_start_with(store, &s, NULL, 0);
    *heartbeats = row_list(store, &s, arena, &layout, count);
    return sql_result(store);
}

enum store_result store_delete_heartbeats(struct store *store, int64_t before, size_t *removed) {
    static struct statement find = {.sql = "SELECT 1 FROM heartbeat WHERE beat_at < ?1 LIMIT 1"};
    static struct statement s = {.sql = "DELETE FROM heartbeat WHERE beat_at < ?1"};
    *removed = 0;
    sql_start(store, &find, INTEGER(before));
    if (!row_exists(store, &find))
        return sql_result(store); /* without taking the write lock */
    while (sql_transact(store))
        if (sql_run(store, &s, INTEGER(before)))
            *removed = (size_t)sql_changes(store);
    return sql_result(store);
}
