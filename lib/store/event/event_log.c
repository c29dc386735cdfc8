#include "store/event_log.h"

#include "engine/row.h"
#include "store/forward_parts.h"

/* After these come the columns of the contact. */
#define EVENT_COLUMNS                                                                              \
    "e.id, u.email, e.type, e.state, e.sequence, e.created_at, e.finished_at, e.wamid, "
#define OF(member) ROW_MEMBER(struct store_event_entry, member)
static const struct row_layout layout =
    ROW_LAYOUT(struct store_event_entry, OF(id), OF(email), OF(type), OF(state), OF(sequence),
               OF(created_at), ROW_TIME_MEMBER(struct store_event_entry, finished_at), OF(wamid));

/* The contact of an event, or the one that it was merged into. */
#define WITH_OWNERS                                                                                \
    " JOIN \"user\" u ON u.id = e.user_id LEFT JOIN contact c ON c.id = coalesce((SELECT "         \
    "g.contact_id FROM contact_merge g WHERE g.merged_id = e.contact_id LIMIT 1), e.contact_id)"
#define EVENT_TABLES "event e" WITH_OWNERS

/* Reads the next row of a statement that selects these columns. */
static bool read_event(struct store *store, struct statement *s, struct arena *arena,
                       struct store_event_entry *event) {
    *event = (struct store_event_entry){.next_attempt_at = INT64_MAX};
    if (!sql_row(store, s))
        return false;
    row_read(s, 0, arena, &layout, event);
    row_read(s, layout.count, arena, &contact_layout, &event->contact);
    return true;
}

/* --- the deliveries of an event --- */

#define OF_DELIVERY(member) ROW_MEMBER(struct store_event_delivery, member)
#define AT_DELIVERY(member) ROW_TIME_MEMBER(struct store_event_delivery, member)
static const struct row_layout delivery_layout =
    ROW_LAYOUT(struct store_event_delivery, OF_DELIVERY(webhook_id), OF_DELIVERY(state),
               OF_DELIVERY(attempts), AT_DELIVERY(next_attempt_at), AT_DELIVERY(last_attempt_at),
               AT_DELIVERY(finished_at), OF_DELIVERY(last_status), OF_DELIVERY(last_error));

/* Reads the deliveries of the event; with `webhook_id` only that one. A pending delivery to a
 * suspended webhook waits for the webhook, whatever its own time. */
static void read_deliveries(struct store *store, struct arena *arena, const char *webhook_id,
                            struct store_event_entry *event) {
    static struct statement s = {
        .sql = "SELECT d.webhook_id, CASE WHEN d.state <> 'pending' THEN d.state "
               "WHEN w.paused_at IS NOT NULL THEN 'paused' "
               "WHEN w.suspended_at IS NOT NULL THEN 'suspended' ELSE d.state END, d.attempts, "
               "CASE WHEN d.state = 'pending' THEN d.next_attempt_at END, d.last_attempt_at, "
               "d.finished_at, d.last_status, d.last_error FROM delivery d "
               "JOIN webhook w ON w.id = d.webhook_id WHERE d.event_id = ?1 "
               "AND (d.webhook_id = ?2 OR ?2 IS NULL) ORDER BY d.webhook_id"};
    sql_start(store, &s, TEXT(event->id), TEXT(webhook_id));
    event->deliveries = row_list(store, &s, arena, &delivery_layout, &event->delivery_count);
}

static bool is_state(const struct store_event_delivery *delivery, const char *state) {
    return strcmp(delivery->state, state) == 0;
}

/* Whether the last attempt of `a` explains the event's state better than that of `b`: a failed one
 * before others, then the later one. */
static bool is_better(const struct store_event_delivery *a, const struct store_event_delivery *b) {
    if (!a->last_error != !b->last_error)
        return a->last_error != NULL;
    const int64_t at = a->last_attempt_at == INT64_MAX ? INT64_MIN : a->last_attempt_at;
    return b->last_attempt_at == INT64_MAX || at > b->last_attempt_at;
}

/* Sets the summary of the deliveries. */
static void summarize(struct store_event_entry *event) {
    const struct store_event_delivery *last = event->deliveries;
    size_t suspended = 0, waiting = 0;
    for (size_t i = 0; i < event->delivery_count; i++) {
        const struct store_event_delivery *delivery = &event->deliveries[i];
        suspended += is_state(delivery, "suspended");
        waiting += delivery->next_attempt_at != INT64_MAX;
        if (delivery->attempts > event->attempts)
            event->attempts = delivery->attempts;
        if (delivery->next_attempt_at < event->next_attempt_at)
            event->next_attempt_at = delivery->next_attempt_at;
        if (is_better(delivery, last))
            last = delivery;
    }
    if (last) {
        event->last_status = last->last_status;
        event->last_error = last->last_error;
    }
    if (suspended && suspended == waiting)
        event->state = "suspended";
}

/* The event as one webhook sees it. */
static void show_delivery(struct store_event_entry *event) {
    if (!event->delivery_count)
        return;
    const struct store_event_delivery *delivery = event->deliveries;
    const bool is_paused = is_state(delivery, "paused");
    event->state = is_paused ? "pending" : delivery->state;
    event->finished_at = delivery->finished_at;
}

/* Reads all rows of the started statement, then their deliveries, of one webhook if that is given.
 */
static enum store_result read_events(struct store *store, struct statement *s, struct arena *arena,
                                     const char *webhook_id, struct store_event_entry **events,
                                     size_t *count) {
    struct buffer rows = buffer_in(arena);
    struct store_event_entry event;
    while (read_event(store, s, arena, &event))
        buffer_add(&rows, &event, sizeof event);
    *events = buffer_array(&rows, sizeof event, count);
    for (size_t i = 0; i < *count; i++) {
        read_deliveries(store, arena, webhook_id, &(*events)[i]);
        summarize(&(*events)[i]);
        if (webhook_id)
            show_delivery(&(*events)[i]);
    }
    return sql_result(store);
}

enum store_result store_list_events(struct store *store, struct arena *arena, bool failed,
                                    const struct store_page *page,
                                    struct store_event_entry **events, size_t *count) {
#define EVENT_PAGE(condition)                                                                      \
    "SELECT " EVENT_COLUMNS CONTACT_COLUMNS " FROM " EVENT_TABLES " WHERE " condition              \
    " ORDER BY e.id LIMIT ?2"
    static struct statement list = {.sql = EVENT_PAGE("e.id > ?1")};
    static struct statement list_failed = {.sql = EVENT_PAGE("e.has_error = 1 AND e.id > ?1")};
    struct statement *s = failed ? &list_failed : &list;
    sql_start(store, s, TEXT(page->after ? page->after : ""), INTEGER((int64_t)page->limit));
    return read_events(store, s, arena, NULL, events, count);
}

/* --- the events of a user ---
 *
 * Ids begin with the time of creation, so a period is a range of ids. The statements differ by the
 * index that they use. A state other than done is rare, and so is every type but the common ones.
 */

#define USER_EVENTS(condition)                                                                     \
    "SELECT " EVENT_COLUMNS CONTACT_COLUMNS " FROM " EVENT_TABLES                                  \
    " WHERE e.user_id = ?1 AND e.id >= ?2 AND e.id < ?3 " condition " ORDER BY e.id DESC LIMIT ?4"
#define HAS_TYPE   " AND (e.type = ?6 OR ?6 IS NULL)"
#define HAS_STATE  " AND (e.state = ?5 OR ?5 IS NULL)"
#define HAS_FAILED " AND (?7 = 0 OR e.has_error = 1)"

static struct statement *choose_list(const struct store_event_filter *filter) {
    static struct statement pending = {
        .sql = USER_EVENTS("AND e.state = 'pending'" HAS_STATE HAS_TYPE HAS_FAILED)};
    static struct statement finished = {
        .sql = USER_EVENTS("AND e.state = ?5 AND e.finished_at IS NOT NULL" HAS_TYPE HAS_FAILED)};
    static struct statement failed = {
        .sql = USER_EVENTS("AND e.has_error = 1 AND ?7 = 1" HAS_STATE HAS_TYPE)};
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

/* The same for the deliveries to one webhook. */
#define WEBHOOK_EVENTS(condition)                                                                  \
    "SELECT " EVENT_COLUMNS CONTACT_COLUMNS                                                        \
    " FROM delivery d JOIN event e ON e.id = d.event_id" WITH_OWNERS                               \
    " WHERE d.webhook_id = ?8 AND d.user_id = ?1 AND d.event_id >= ?2 AND d.event_id < "           \
    "?3 " condition " ORDER BY d.event_id DESC LIMIT ?4"
#define DELIVERY_HAS_STATE  " AND (d.state = ?5 OR ?5 IS NULL)"
#define DELIVERY_HAS_FAILED " AND (?7 = 0 OR d.last_error IS NOT NULL)"

static struct statement *choose_webhook_list(const struct store_event_filter *filter) {
    static struct statement ended = {
        .sql = WEBHOOK_EVENTS(
            "AND d.state = ?5 AND (d.state = 'dead' OR d.state = 'cancelled')" HAS_TYPE
                DELIVERY_HAS_FAILED)};
    static struct statement failed = {
        .sql =
            WEBHOOK_EVENTS("AND d.last_error IS NOT NULL AND ?7 = 1" DELIVERY_HAS_STATE HAS_TYPE)};
    static struct statement all = {
        .sql = WEBHOOK_EVENTS(DELIVERY_HAS_STATE HAS_TYPE DELIVERY_HAS_FAILED)};
    if (filter->state &&
        (strcmp(filter->state, "dead") == 0 || strcmp(filter->state, "cancelled") == 0))
        return &ended;
    return filter->failed ? &failed : &all;
}

/* --- what is searched for --- */

/* The events, and with a webhook those that are for it. */
#define SOUGHT_EVENTS(condition)                                                                   \
    USER_EVENTS(condition " AND (EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = e.id "        \
                          "AND d.webhook_id = ?8" DELIVERY_HAS_STATE DELIVERY_HAS_FAILED           \
                          ") OR ?8 IS NULL)" HAS_TYPE " AND ((1 = 1" HAS_STATE HAS_FAILED          \
                          ") OR ?8 IS NOT NULL)")

/* The statement that searches, and what it searches for; NULL: the filter names nothing. */
static struct statement *choose_search(const struct store_event_filter *filter,
                                       const char **sought) {
    static struct statement by_id = {.sql = SOUGHT_EVENTS("AND e.id = ?9")};
    static struct statement by_wamid = {.sql = SOUGHT_EVENTS("AND e.wamid = ?9")};
    static struct statement by_contact = {.sql = SOUGHT_EVENTS("AND e.contact_id = ?9")};
    *sought = filter->event_id ? filter->event_id
              : filter->wamid  ? filter->wamid
                               : filter->contact_id;
    return filter->event_id     ? &by_id
           : filter->wamid      ? &by_wamid
           : filter->contact_id ? &by_contact
                                : NULL;
}

enum store_result store_list_user_events(struct store *store, struct arena *arena,
                                         const char *user_id,
                                         const struct store_event_filter *filter,
                                         const struct store_page *page,
                                         struct store_event_entry **events, size_t *count) {
    const char *sought;
    struct statement *search = choose_search(filter, &sought);
    struct statement *s = search               ? search
                          : filter->webhook_id ? choose_webhook_list(filter)
                                               : choose_list(filter);
    char first[ID_SIZE], end[ID_SIZE];
    id_least(first, "evt_", filter->since);
    id_least(end, "evt_", filter->until);
    const bool is_before = page->after && strcmp(page->after, end) < 0;
    const struct parameter parameters[] = {
        TEXT(user_id),
        TEXT(first),
        TEXT(is_before ? page->after : end),
        INTEGER((int64_t)page->limit),
        TEXT(filter->state),
        TEXT(filter->type),
        INTEGER(filter->failed),
        TEXT(filter->webhook_id),
        TEXT(sought),
    };
    sql_start_with(store, s, parameters, search ? 9 : filter->webhook_id ? 8 : 7);
    return read_events(store, s, arena, filter->webhook_id, events, count);
}

/* --- one event --- */

#define OF_ATTEMPT(member) ROW_MEMBER(struct store_event_attempt, member)
static const struct row_layout attempt_layout =
    ROW_LAYOUT(struct store_event_attempt, OF_ATTEMPT(webhook_id), OF_ATTEMPT(attempt),
               OF_ATTEMPT(started_at), OF_ATTEMPT(duration_ms), OF_ATTEMPT(status),
               OF_ATTEMPT(error), OF_ATTEMPT(address), OF_ATTEMPT(response_head));

static void read_log(struct store *store, struct arena *arena, struct store_event_entry *event) {
    static struct statement s = {
        .sql = "SELECT webhook_id, attempt, started_at, duration_ms, http_status, error, address, "
               "response_head FROM event_attempt WHERE event_id = ?1 "
               "ORDER BY webhook_id, attempt"};
    sql_start(store, &s, TEXT(event->id));
    event->log = row_list(store, &s, arena, &attempt_layout, &event->log_count);
}

/* Reads the event itself; false when there is none, or on failure. */
static bool find_event(struct store *store, struct arena *arena, const char *user_id,
                       const char *id, struct store_event_entry *event) {
    static struct statement s = {
        .sql = "SELECT " EVENT_COLUMNS CONTACT_COLUMNS
               ", coalesce(e.body, p.body), e.parts FROM " EVENT_TABLES
               " LEFT JOIN platform_post p ON p.id = e.post_id WHERE e.id = ?1 "
               "AND (e.user_id = ?2 OR ?2 IS NULL)"};
    const int rest = layout.count + contact_layout.count;
    sql_start(store, &s, TEXT(id), TEXT(user_id));
    if (!read_event(store, &s, arena, event))
        return false;
    event->body =
        forward_assemble(arena, column_blob(&s, rest, arena), column_text(&s, rest + 1, arena));
    sql_stop(&s);
    return true;
}

enum store_result store_find_event(struct store *store, struct arena *arena, const char *user_id,
                                   const char *id, struct store_event_entry *event) {
    const bool found = find_event(store, arena, user_id, id, event);
    if (found) {
        read_deliveries(store, arena, NULL, event);
        summarize(event);
        read_log(store, arena, event);
    }
    return sql_found(store, found);
}
