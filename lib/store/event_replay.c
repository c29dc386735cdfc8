#include "store/event_replay.h"

#include "store/outbox_entry.h"

/* ?1 is now. An event that is being delivered keeps its lease and its result. A merge does not
 * update the contact of finished events: the contact that remained is looked up here. */
#define REPLAY                                                                                     \
    "UPDATE event SET state = 'pending', attempts = 0, next_attempt_at = ?1, finished_at = NULL, " \
    "lease_until = 0, lease_owner = NULL, contact_id = coalesce((SELECT m.contact_id "             \
    "  FROM contact_merge m WHERE m.merged_id = event.contact_id), contact_id) "                   \
    "WHERE NOT (state = 'pending' AND lease_until > ?1) AND EXISTS (SELECT 1 FROM webhook w "      \
    "  WHERE w.user_id = event.user_id AND w.url <> '' AND w.code IS NOT NULL) "

/* Whether the event of the user, or of any user, exists, and whether its user had a webhook before
 * the lock, which only chooses the result of the call. Locks the user until the transaction ends.
 */
static bool lock_target(struct store *store, const char *owner, const char *id, bool *has_webhook) {
    static struct statement s = {
        .sql = "SELECT e.user_id, w.url <> '' AND w.code IS NOT NULL FROM event e "
               "LEFT JOIN webhook w ON w.user_id = e.user_id "
               "WHERE e.id = ?1 AND (e.user_id = ?2 OR ?2 IS NULL)"};
    char user_id[ID_SIZE];
    sql_start(store, &s, TEXT(id), TEXT(owner));
    if (!sql_row(store, &s))
        return false;
    column_id(&s, 0, user_id);
    *has_webhook = column_integer(&s, 1) != 0;
    sql_stop(&s);
    sql_lock(store, LOCK_USER, NULL, &(const char *){user_id}, 1);
    return !sql_failed(store);
}

enum store_result store_replay_event(struct store *store, const char *user_id, const char *id,
                                     int64_t now) {
    static struct statement s = {.sql =
                                     REPLAY "AND id = ?2 AND (state <> 'pending' OR ?3 IS NULL)"};
    bool has_webhook = false;
    bool found = sql_begin(store) && lock_target(store, user_id, id, &has_webhook);
    if (found)
        sql_run(store, &s, INTEGER(now), TEXT(id), TEXT(user_id));
    enum store_result result = sql_commit(store);
    if (result != STORE_OK)
        return result;
    return !found ? STORE_NOT_FOUND : has_webhook ? STORE_OK : STORE_CONFLICT;
}

/* Finds the last existing event in [first, end). */
static bool find_last(struct store *store, const char *first, const char *end, char id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT max(id) FROM event WHERE id >= ?1 AND id < ?2"};
    sql_start(store, &s, TEXT(first), TEXT(end));
    return sql_read_id(store, &s, id);
}

/* Locks the users of the events in [first, last], at most STORE_REPLAYED_AT_ONCE + 1, until the
 * transaction ends. */
static bool lock_users(struct store *store, const char *first, const char *last) {
    static struct statement s = {
        .sql = "SELECT user_id FROM event WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3"};
    char ids[STORE_REPLAYED_AT_ONCE + 1][ID_SIZE];
    const char *users[STORE_REPLAYED_AT_ONCE + 1];
    size_t count = 0;
    sql_start(store, &s, TEXT(first), TEXT(last), INTEGER(STORE_REPLAYED_AT_ONCE + 1));
    for (; sql_row(store, &s); count++) {
        column_id(&s, 0, ids[count]);
        users[count] = ids[count];
    }
    if (count)
        sql_lock(store, LOCK_USER, NULL, users, count);
    return !sql_failed(store);
}

/* Replays the first events in [first, last]. `next` is the first one after them, "" at the end. */
static enum store_result replay_batch(struct store *store, char first[ID_SIZE], const char *last,
                                      int64_t now, size_t *count, char next[ID_SIZE]) {
    static struct statement find = {.sql = "SELECT id FROM event WHERE id >= ?1 AND id <= ?2 "
                                           "ORDER BY id LIMIT 1 OFFSET ?3"};
    static struct statement replay = {.sql = REPLAY "AND id >= ?2 AND id <= ?3 AND id <> ?4"};
    if (sql_begin(store)) {
        sql_start(store, &find, TEXT(first), TEXT(last), INTEGER(STORE_REPLAYED_AT_ONCE));
        if (!sql_read_id(store, &find, next))
            *next = '\0';
        const char *end = *next ? next : last;
        if (lock_users(store, first, end) &&
            sql_run(store, &replay, INTEGER(now), TEXT(first), TEXT(end), TEXT(next)))
            *count += (size_t)sql_changes(store);
    }
    return sql_commit(store);
}

enum store_result store_replay_events(struct store *store, int64_t since, int64_t until,
                                      int64_t now, size_t *count) {
    char first[ID_SIZE], last[ID_SIZE], end[ID_SIZE], next[ID_SIZE];
    *count = 0;
    id_least(first, "evt_", since);
    id_least(end, "evt_", until);
    if (!find_last(store, first, end, last))
        return sql_result(store);
    enum store_result result;
    do {
        size_t before = *count;
        result = replay_batch(store, first, last, now, count, next);
        if (result != STORE_OK)
            *count = before;
        memcpy(first, next, ID_SIZE);
    } while (result == STORE_OK && *next);
    return result;
}

/* --- the dead events of a user --- */

static bool has_dead_event(struct store *store, const char *user_id, const char *first) {
    static struct statement s = {
        .sql = "SELECT 1 FROM event WHERE user_id = ?1 "
               "AND state = 'dead' AND finished_at IS NOT NULL AND id >= ?2 LIMIT 1"};
    sql_start(store, &s, TEXT(user_id), TEXT(first));
    const bool found = sql_row(store, &s);
    if (found)
        sql_stop(&s);
    return found;
}

enum store_result store_replay_dead_events(struct store *store, const char *user_id, int64_t since,
                                           int64_t now, size_t *count, bool *more) {
    static struct statement s = {.sql = REPLAY
                                 "AND id IN (SELECT d.id FROM event d WHERE d.user_id = ?2 "
                                 "AND d.state = 'dead' AND d.finished_at IS NOT NULL AND d.id >= "
                                 "?3 ORDER BY d.id LIMIT ?4)"};
    char first[ID_SIZE];
    bool is_set = false;
    *count = 0;
    *more = false;
    id_least(first, "evt_", since);
    if (sql_begin(store)) {
        sql_lock(store, LOCK_USER, NULL, &user_id, 1);
        is_set = !sql_failed(store) && outbox_has_target(store, user_id);
        if (is_set && sql_run(store, &s, INTEGER(now), TEXT(user_id), TEXT(first),
                              INTEGER(STORE_REPLAYED_AT_ONCE))) {
            *count = (size_t)sql_changes(store);
            *more = has_dead_event(store, user_id, first);
        }
    }
    enum store_result result = sql_commit(store);
    return result == STORE_OK && !is_set ? STORE_CONFLICT : result;
}
