#include "store/event/event_entry.h"

#include <stdlib.h>

#include "store/count/user_number.h"

bool outbox_add(struct store *store, struct arena *arena, struct store_event *event, const char *id,
                event_writer *write, const struct outbox_post *post) {
    static struct statement s = {
        .sql = "INSERT INTO event (id, user_id, is_forward, sequence, type, contact_id, line_id, "
               "body, post_id, parts, state, created_at, wamid) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'pending', ?11, ?12)"};
    static const struct outbox_post none = {NULL, NULL};
    const struct slice no_body = {NULL, 0};
    if (!user_number_next(store, event->user_id, event->is_forward ? NUMBER_FORWARD : NUMBER_EVENT,
                          &event->sequence))
        return false;
    const struct slice body = post ? no_body : write(arena, event);
    post = post ? post : &none;
    return sql_run_later(store, &s, TEXT(id), TEXT(event->user_id), INTEGER(event->is_forward),
                         INTEGER(event->sequence), TEXT(event->type), TEXT(event->contact.id),
                         TEXT(event->line_id), BLOB(body), TEXT(post->post_id), TEXT(post->parts),
                         INTEGER(event->now), TEXT(event->wamid));
}

bool outbox_deliver(struct store *store, const struct store_event *event, const char *id,
                    const char *webhook_id, const char *order_key) {
    static struct statement s = {
        .sql = "INSERT INTO delivery (event_id, webhook_id, user_id, sequence, order_key, state, "
               "next_attempt_at, created_at) VALUES (?1, ?2, ?3, ?4, ?5, 'pending', ?6, ?6) "
               "ON CONFLICT (event_id, webhook_id) DO NOTHING"};
    return sql_run_later(store, &s, TEXT(id), TEXT(webhook_id), TEXT(event->user_id),
                         INTEGER(event->sequence), TEXT(order_key), INTEGER(event->now));
}

bool outbox_deliver_all(struct store *store, const struct webhook_list *webhooks,
                        const struct store_event *event, const char *id, const char *order_key) {
    for (size_t i = 0; i < webhooks->count; i++)
        if (webhook_match_event(&webhooks->list[i], event->type, event->line_id) &&
            !outbox_deliver(store, event, id, webhooks->list[i].id, order_key))
            return false;
    return true;
}

bool event_entry_is_wanted(const struct webhook_list *webhooks, const char *type,
                           const char *line_id) {
    for (size_t i = 0; i < webhooks->count; i++)
        if (webhook_match_event(&webhooks->list[i], type, line_id))
            return true;
    return false;
}

bool event_entry_add(struct store *store, struct arena *arena, const struct webhook_list *webhooks,
                     struct store_event *event, const char *order_key, event_writer *write) {
    char id[ID_SIZE];
    if (!event_entry_is_wanted(webhooks, event->type, event->line_id))
        return true;
    id_make(id, "evt_", event->now);
    return outbox_add(store, arena, event, id, write, NULL) &&
           outbox_deliver_all(store, webhooks, event, id, order_key);
}

static const struct row_layout owner_layout =
    ROW_LAYOUT(struct store_event, ROW_MEMBER(struct store_event, waba_id),
               ROW_MEMBER(struct store_event, phone_number_id));

bool event_entry_read_owner(struct store *store, struct arena *arena, struct store_event *event) {
    static struct statement s = {.sql = "SELECT a.waba_id, l.phone_number_id FROM account a "
                                        "LEFT JOIN line l ON l.id = ?2 WHERE a.id = ?1"};
    sql_start(store, &s, TEXT(event->account_id), TEXT(event->line_id));
    return row_fill(store, &s, arena, &owner_layout, event);
}

static int compare_ids(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t outbox_distinct(struct buffer *ids) {
    const char **id = (const char **)(void *)ids->p;
    const size_t n = ids->n / sizeof *id;
    size_t count = 0;
    if (n)
        qsort(id, n, sizeof *id, compare_ids);
    for (size_t i = 0; i < n; i++)
        if (!count || strcmp(id[i], id[count - 1]) != 0)
            id[count++] = id[i];
    return count;
}

/* Whether the event has a delivery in this state; those of the webhook ?1 are taken to be cancelled
 * if they are pending. ?2 is the time of the end. Pending deliveries and errors are found by an
 * index of their own; all deliveries are read only when none of them is pending any more. */
#define HAS(condition)                                                                             \
    "EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = event.id AND " condition ")"
#define HAS_PENDING HAS("d.state = 'pending' AND d.webhook_id <> ?1")
#define HAS_DEAD    HAS("d.state = 'dead'")
#define HAS_DONE    HAS("d.state = 'done'")
#define HAS_ERROR   HAS("d.last_error IS NOT NULL")
/* clang-format off */
#define SUMMARIZE                                                                                  \
    "UPDATE event SET state = CASE WHEN " HAS_PENDING " THEN 'pending' "                           \
    "WHEN " HAS_DEAD " THEN 'dead' WHEN " HAS_DONE " THEN 'done' ELSE 'cancelled' END, "           \
    "finished_at = CASE WHEN NOT " HAS_PENDING " THEN CAST(?2 AS BIGINT) END, "                    \
    "has_error = CASE WHEN " HAS_ERROR " THEN 1 ELSE 0 END "
/* clang-format on */

bool outbox_summarize(struct store *store, const char *event_id, int64_t now) {
    static struct statement s = {.sql = SUMMARIZE "WHERE id = ?3"};
    return sql_run(store, &s, TEXT(""), INTEGER(now), TEXT(event_id));
}

bool outbox_cancel(struct store *store, const char *user_id, const char *webhook_id, int64_t now) {
    static struct statement events = {
        .sql = SUMMARIZE "WHERE id IN (SELECT c.event_id FROM delivery c WHERE c.webhook_id = ?1 "
                         "AND c.state = 'pending')"};
    static struct statement deliveries = {
        .sql = "UPDATE delivery SET state = 'cancelled', finished_at = ?2 "
               "WHERE webhook_id = ?1 AND state = 'pending'"};
    sql_lock(store, LOCK_COUNTERS, NULL, &user_id, 1);
    return sql_run(store, &events, TEXT(webhook_id), INTEGER(now)) &&
           sql_run(store, &deliveries, TEXT(webhook_id), INTEGER(now));
}

bool outbox_make_due(struct store *store, const char *webhook_id, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE delivery SET next_attempt_at = ?2 "
               "WHERE webhook_id = ?1 AND state = 'pending' AND next_attempt_at > ?2"};
    return sql_run(store, &s, TEXT(webhook_id), INTEGER(now));
}
