#include "store/event_log.h"

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

/* Reads all rows of the started statement. */
static enum store_result read_events(struct store *store, struct statement *s, struct arena *arena,
                                     struct store_event_entry **events, size_t *count) {
    struct buffer rows = buffer_in(arena);
    while (sql_row(store, s)) {
        struct store_event_entry event = read_event(s, arena);
        buffer_add(&rows, &event, sizeof event);
    }
    *events = (struct store_event_entry *)(void *)rows.p;
    *count = rows.n / sizeof **events;
    return sql_result(store);
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
    sql_start(store, s, TEXT(page->after ? page->after : ""), INTEGER((int64_t)page->limit));
    return read_events(store, s, arena, events, count);
}

/* --- the events of a user ---
 *
 * Ids begin with the time of creation, so a period is a range of ids. The statements differ by the
 * index that they use. A state other than done is rare, and so is every type but the common ones.
 */

#define USER_EVENTS(condition)                                                                     \
    "SELECT " EVENT_COLUMNS " FROM " EVENT_TABLES                                                  \
    " WHERE e.user_id = ?1 AND e.id >= ?2 AND e.id < ?3 " condition " ORDER BY e.id DESC LIMIT ?4"
#define HAS_TYPE   " AND (e.type = ?6 OR ?6 IS NULL)"
#define HAS_STATE  " AND (e.state = ?5 OR ?5 IS NULL)"
#define HAS_FAILED " AND (?7 = 0 OR e.last_error IS NOT NULL)"

static struct statement *choose_list(const struct store_event_filter *filter) {
    static struct statement pending = {
        .sql = USER_EVENTS("AND e.state = 'pending'" HAS_STATE HAS_TYPE HAS_FAILED)};
    static struct statement finished = {
        .sql = USER_EVENTS("AND e.state = ?5 AND e.finished_at IS NOT NULL" HAS_TYPE HAS_FAILED)};
    static struct statement failed = {
        .sql = USER_EVENTS("AND e.last_error IS NOT NULL AND ?7 = 1" HAS_STATE HAS_TYPE)};
    static struct statement of_type = {.sql = USER_EVENTS("AND e.type = ?6" HAS_STATE HAS_FAILED)};
    static struct statement all = {.sql = USER_EVENTS(HAS_STATE HAS_TYPE HAS_FAILED)};
    const bool is_done = filter->state && strcmp(filter->state, "done") == 0;
    if (filter->state && strcmp(filter->state, "pending") == 0)
        return &pending;
    if (filter->state && !is_done)
        return &finished;
    if (filter->failed)
        return &failed;
    if (filter->type)
        return &of_type;
    return is_done ? &finished : &all;
}

enum store_result store_list_user_events(struct store *store, struct arena *arena,
                                         const char *user_id,
                                         const struct store_event_filter *filter,
                                         const struct store_page *page,
                                         struct store_event_entry **events, size_t *count) {
    struct statement *s = choose_list(filter);
    char first[ID_SIZE], end[ID_SIZE];
    id_least(first, "evt_", filter->since);
    id_least(end, "evt_", filter->until);
    const bool is_before = page->after && strcmp(page->after, end) < 0;
    sql_start(store, s, TEXT(user_id), TEXT(first), TEXT(is_before ? page->after : end),
              INTEGER((int64_t)page->limit), TEXT(filter->state), TEXT(filter->type),
              INTEGER(filter->failed));
    return read_events(store, s, arena, events, count);
}

/* --- one event --- */

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

enum store_result store_find_event(struct store *store, struct arena *arena, const char *user_id,
                                   const char *id, struct store_event_entry *event) {
    static struct statement s = {
        .sql = "SELECT " EVENT_COLUMNS ", e.body, a.attempt, a.started_at, a.duration_ms, "
               "a.http_status, a.error, a.address, a.response_head FROM " EVENT_TABLES
               " LEFT JOIN event_attempt a ON a.event_id = e.id WHERE e.id = ?1 "
               "AND (e.user_id = ?2 OR ?2 IS NULL) ORDER BY a.attempt"};
    struct buffer log = buffer_in(arena);
    bool found = false;
    sql_start(store, &s, TEXT(id), TEXT(user_id));
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
