#include "store/event_admin.h"

#include "store/sql.h"

/* A pending event of a suspended webhook waits for the webhook, whatever its own time. */
#define EVENT_COLUMNS                                                                              \
    "e.id, u.email, e.type, CASE WHEN e.state = 'pending' AND w.suspended_at IS NOT NULL "         \
    "THEN 'suspended' ELSE e.state END, e.sequence, e.attempts, e.created_at, "                    \
    "CASE WHEN e.state = 'pending' THEN e.next_attempt_at END, e.finished_at, e.last_status, "     \
    "e.last_error"
enum { EVENT_COLUMN_COUNT = 11 };

#define EVENT_TABLES                                                                               \
    "event e JOIN \"user\" u ON u.id = e.user_id LEFT JOIN webhook w ON w.user_id = e.user_id"

static int64_t time_or_never(struct statement *s, int column) {
    return column_is_null(s, column) ? INT64_MAX : column_integer(s, column);
}

static struct store_event_entry read_event(struct statement *s, struct arena *arena) {
    return (struct store_event_entry){
        .id = column_text(s, 0, arena),
        .email = column_text(s, 1, arena),
        .type = column_text(s, 2, arena),
        .state = column_text(s, 3, arena),
        .sequence = column_integer(s, 4),
        .attempts = (int)column_integer(s, 5),
        .created_at = column_integer(s, 6),
        .next_attempt_at = time_or_never(s, 7),
        .finished_at = time_or_never(s, 8),
        .last_status = (int)column_integer(s, 9),
        .last_error = column_text(s, 10, arena),
    };
}

enum store_result store_list_events(struct store *store, struct arena *arena, bool failed,
                                    const struct store_page *page,
                                    struct store_event_entry **events, size_t *count) {
#define EVENT_PAGE(condition)                                                                      \
    "SELECT " EVENT_COLUMNS " FROM " EVENT_TABLES " WHERE " condition " ORDER BY e.id LIMIT ?2"
    static struct statement list = {.sql = EVENT_PAGE("e.id > ?1")};
    static struct statement list_failed = {
        .sql = EVENT_PAGE("e.last_error IS NOT NULL AND e.id > ?1")};
    struct statement *s = failed ? &list_failed : &list;
    struct buffer rows = buffer_in(arena);
    *count = 0;
    sql_start(store, s, TEXT(page->after ? page->after : ""), INTEGER((int64_t)page->limit));
    while (sql_row(store, s)) {
        struct store_event_entry event = read_event(s, arena);
        buffer_add(&rows, &event, sizeof event);
        ++*count;
    }
    *events = (struct store_event_entry *)(void *)rows.p;
    return sql_result(store);
}

static struct store_event_attempt read_attempt(struct statement *s, int first,
                                               struct arena *arena) {
    return (struct store_event_attempt){
        .attempt = (int)column_integer(s, first),
        .started_at = column_integer(s, first + 1),
        .duration_ms = column_integer(s, first + 2),
        .status = (int)column_integer(s, first + 3),
        .error = column_text(s, first + 4, arena),
        .address = column_text(s, first + 5, arena),
        .response_head = column_blob(s, first + 6, arena),
    };
}

enum store_result store_find_event(struct store *store, struct arena *arena, const char *id,
                                   struct store_event_entry *event) {
    static struct statement s = {
        .sql =
            "SELECT " EVENT_COLUMNS ", e.body, a.attempt, a.started_at, a.duration_ms, "
            "a.http_status, a.error, a.address, a.response_head FROM " EVENT_TABLES
            " LEFT JOIN event_attempt a ON a.event_id = e.id WHERE e.id = ?1 ORDER BY a.attempt"};
    struct buffer log = buffer_in(arena);
    bool found = false;
    sql_start(store, &s, TEXT(id));
    for (; sql_row(store, &s); found = true) { /* one row for each attempt, at least one */
        if (!found) {
            *event = read_event(&s, arena);
            event->body = column_blob(&s, EVENT_COLUMN_COUNT, arena);
        }
        if (column_is_null(&s, EVENT_COLUMN_COUNT + 1))
            continue;
        struct store_event_attempt attempt = read_attempt(&s, EVENT_COLUMN_COUNT + 1, arena);
        buffer_add(&log, &attempt, sizeof attempt);
        event->log_count++;
    }
    enum store_result result = sql_result(store);
    if (result != STORE_OK || !found)
        return result == STORE_OK ? STORE_NOT_FOUND : result;
    event->log = (const struct store_event_attempt *)(void *)log.p;
    return STORE_OK;
}

enum { REPLAYED_AT_ONCE = 500 }; /* per transaction: a short one, since other writers wait for it */

/* ?1 is now. An event that is being delivered keeps its lease and its result. A merge does not
 * update the contact of finished events: the contact that remained is looked up here. */
#define REPLAY                                                                                     \
    "UPDATE event SET state = 'pending', attempts = 0, next_attempt_at = ?1, finished_at = NULL, " \
    "lease_until = 0, lease_owner = NULL, contact_id = coalesce((SELECT m.contact_id "             \
    "  FROM contact_merge m WHERE m.merged_id = event.contact_id), contact_id) "                   \
    "WHERE NOT (state = 'pending' AND lease_until > ?1) AND EXISTS (SELECT 1 FROM webhook w "      \
    "  WHERE w.user_id = event.user_id AND w.url <> '' AND w.code IS NOT NULL) "

/* Whether the event exists, and whether its user had a webhook before the lock, which only chooses
 * the result of the call. Locks the user until the transaction ends. */
static bool lock_target(struct store *store, const char *id, bool *has_webhook) {
    static struct statement s = {
        .sql = "SELECT e.user_id, w.url <> '' AND w.code IS NOT NULL FROM event e "
               "LEFT JOIN webhook w ON w.user_id = e.user_id WHERE e.id = ?1"};
    char user_id[ID_SIZE];
    sql_start(store, &s, TEXT(id));
    if (!sql_row(store, &s))
        return false;
    column_id(&s, 0, user_id);
    *has_webhook = column_integer(&s, 1) != 0;
    sql_stop(&s);
    sql_lock(store, LOCK_USER, NULL, &(const char *){user_id}, 1);
    return !sql_failed(store);
}

enum store_result store_replay_event(struct store *store, const char *id, int64_t now) {
    static struct statement s = {.sql = REPLAY "AND id = ?2"};
    bool has_webhook = false;
    bool found = sql_begin(store) && lock_target(store, id, &has_webhook);
    if (found)
        sql_run(store, &s, INTEGER(now), TEXT(id));
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

/* Locks the users of the events in [first, last], at most REPLAYED_AT_ONCE + 1, until the
 * transaction ends. */
static bool lock_users(struct store *store, const char *first, const char *last) {
    static struct statement s = {
        .sql = "SELECT user_id FROM event WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3"};
    char ids[REPLAYED_AT_ONCE + 1][ID_SIZE];
    const char *users[REPLAYED_AT_ONCE + 1];
    size_t count = 0;
    sql_start(store, &s, TEXT(first), TEXT(last), INTEGER(REPLAYED_AT_ONCE + 1));
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
        sql_start(store, &find, TEXT(first), TEXT(last), INTEGER(REPLAYED_AT_ONCE));
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

/* Lists the emails of the users whose webhook is suspended, and locks the users until the
 * transaction ends. */
static void lock_suspended(struct store *store, struct arena *arena, struct buffer *emails) {
    static struct statement s = {.sql = "SELECT u.email, u.id FROM webhook w JOIN \"user\" u "
                                        "ON u.id = w.user_id WHERE w.suspended_at IS NOT NULL "
                                        "ORDER BY u.email"};
    struct buffer ids = buffer_in(arena);
    sql_start_with(store, &s, NULL, 0);
    while (sql_row(store, &s)) {
        const char *email = column_text(&s, 0, arena), *id = column_text(&s, 1, arena);
        buffer_add(emails, &email, sizeof email);
        buffer_add(&ids, &id, sizeof id);
    }
    if (ids.n)
        sql_lock(store, LOCK_USER, NULL, (const char *const *)(void *)ids.p,
                 ids.n / sizeof(char *));
}

enum store_result store_resume_webhooks(struct store *store, struct arena *arena, int64_t now,
                                        const char *const **emails, size_t *count) {
    static struct statement drain = {
        .sql = "UPDATE event SET next_attempt_at = ?1 "
               "WHERE state = 'pending' AND next_attempt_at > ?1 "
               "AND user_id IN (SELECT user_id FROM webhook WHERE suspended_at IS NOT NULL)"};
    static struct statement resume = {
        .sql = "UPDATE webhook SET suspended_at = NULL, failing_since = NULL, "
               "next_probe_at = NULL, updated_at = ?1 WHERE suspended_at IS NOT NULL"};
    struct buffer rows = buffer_in(arena);
    if (sql_begin(store)) {
        lock_suspended(store, arena, &rows);
        if (sql_run(store, &drain, INTEGER(now)))
            sql_run(store, &resume, INTEGER(now));
    }
    *emails = (const char *const *)(void *)rows.p;
    *count = rows.n / sizeof **emails;
    return sql_commit(store);
}

enum store_result store_upsert_wants_message_status(struct store *store, const char *email,
                                                    bool wanted, int64_t now) {
    static struct statement s = {
        .sql = "INSERT INTO webhook (user_id, wants_message_status, updated_at) "
               "SELECT id, ?2, ?3 FROM \"user\" WHERE email = ?1 AND deleted_at IS NULL "
               "ON CONFLICT (user_id) DO UPDATE "
               "SET wants_message_status = excluded.wants_message_status"};
    bool found = sql_begin(store) &&
                 sql_run(store, &s, TEXT(email), INTEGER(wanted), INTEGER(now)) &&
                 sql_changes(store) > 0;
    enum store_result result = sql_commit(store);
    return result == STORE_OK && !found ? STORE_NOT_FOUND : result;
}
