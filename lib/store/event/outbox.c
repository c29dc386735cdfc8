/* Which attempts count, and which events are leased.
 *
 * Every attempt is inserted into event_attempt, and the webhook's success or failure is updated. A
 * successful attempt always counts; a failed one only while the courier still holds the lease. An
 * attempt that began before its webhook was changed does not count for the webhook. A failed probe
 * does not count as an attempt of its event.
 *
 * A first attempt is not leased while the first attempt of an earlier event about the same contact
 * waits or is in progress at the webhook; retries do not delay other events. A forward has an order
 * key instead of a contact. When a webhook has more due events than the share, the contacts take
 * turns with one event each, and so do first attempts and retries: the first event of a contact
 * waits for at most two events of each other contact and as many retries. URL and codes are the
 * current ones. A webhook that is no longer set, paused, or not due for a probe, gets no events.
 */
#include "store/outbox.h"

#include "store/event/event_entry.h"
#include "store/forward_parts.h"

/* A delivery `e` that is due and not leased. A lease that ends later than any lease can was written
 * before the clock was set back, and is ignored. ?1 is now, ?2 the latest end of a lease. */
#define IS_WAITING                                                                                 \
    "e.state = 'pending' AND e.next_attempt_at <= ?1 "                                             \
    "AND (e.lease_until <= ?1 OR e.lease_until > ?2)"

/* The first attempt of an earlier event with the same order key is in progress at the webhook. */
#define IS_BEHIND                                                                                  \
    "EXISTS (SELECT 1 FROM delivery b WHERE b.order_key = e.order_key "                            \
    "AND b.webhook_id = e.webhook_id AND b.state = 'pending' "                                     \
    "AND b.lease_until > ?1 AND b.lease_until <= ?2 AND b.attempts = 1 "                           \
    "AND b.sequence < e.sequence AND b.next_attempt_at <= ?1)"

/* A webhook that events can be sent to. */
#define IS_CONFIGURED WEBHOOK_IS_SET " AND u.deleted_at IS NULL"
#define MAY_BE_TRIED  "w.paused_at IS NULL AND (w.suspended_at IS NULL OR w.next_probe_at <= ?1)"

/* A caller reads `now` before it waits for the lock, so that a lease of another courier may end
 * later than now + OUTBOX_LEASE_MS. */
static int64_t latest_lease(int64_t now) {
    return now + 2 * (int64_t)OUTBOX_LEASE_MS;
}

enum store_result store_list_due(struct store *store, struct arena *arena, int64_t now,
                                 const char ***ids, size_t *count) {
    static struct statement s = {
        .sql = WEBHOOKS_WAITING
        "SELECT webhook_id FROM waiting WHERE (SELECT "
        "min(e.next_attempt_at) FROM delivery e WHERE e.webhook_id = waiting.webhook_id "
        "AND e.state = 'pending') <= ?1"};
    sql_start(store, &s, INTEGER(now));
    *ids = sql_read_ids(store, &s, arena, count);
    return sql_result(store);
}

#define OF_DUE(member) ROW_MEMBER(struct store_due, member)
static const struct row_layout due_layout =
    ROW_LAYOUT(struct store_due, OF_DUE(webhook_id), OF_DUE(user_id), OF_DUE(url),
               OF_DUE(is_suspended), OF_DUE(is_failing));

static void read_due(struct store *store, struct arena *arena, const char *webhook_id, int64_t now,
                     struct store_due *due) {
    static struct statement s = {
        .sql =
            "SELECT w.id, w.user_id, w.url, w.suspended_at IS NOT NULL, "
            "w.failing_since IS NOT NULL FROM webhook w JOIN \"user\" u ON u.id = w.user_id "
            "WHERE w.id = ?3 AND " IS_CONFIGURED " AND " MAY_BE_TRIED
            " AND EXISTS (SELECT 1 FROM delivery e WHERE e.webhook_id = w.id AND " IS_WAITING ")"};
    *due = (struct store_due){0};
    sql_start(store, &s, INTEGER(now), INTEGER(latest_lease(now)), TEXT(webhook_id));
    row_find(store, &s, arena, &due_layout, due);
}

enum store_result store_read_due(struct store *store, struct arena *arena, const char *const *ids,
                                 size_t count, int64_t now, struct store_due *due) {
    store_hold_view(store); /* one view for all statements: a view each would take more locks */
    for (size_t i = 0; i < count && !sql_failed(store); i++)
        read_due(store, arena, ids[i], now, &due[i]);
    store_release_view(store);
    return sql_result(store);
}

#define OF(member) ROW_MEMBER(struct store_delivery, member)
static const struct row_layout target_layout =
    ROW_LAYOUT(struct store_delivery, OF(user_id), OF(url), OF(sealed_code),
               OF(sealed_previous_code), OF(is_probe), OF(is_forward));

/* Reads the webhook; false when no event can be sent to it now, or on failure. */
static bool read_target(struct store *store, struct arena *arena, const char *webhook_id,
                        int64_t now, struct store_delivery *target) {
    static struct statement s = {.sql = "SELECT w.user_id, w.url, w.code, "
                                        "CASE WHEN w.previous_until > ?1 THEN w.previous_code END, "
                                        "w.suspended_at IS NOT NULL, w.kind = 'forward' "
                                        "FROM webhook w JOIN \"user\" u ON u.id = w.user_id "
                                        "WHERE w.id = ?2 AND " IS_CONFIGURED " AND " MAY_BE_TRIED};
    *target = (struct store_delivery){.webhook_id = arena_copy(arena, slice_of(webhook_id))};
    sql_start(store, &s, INTEGER(now), TEXT(webhook_id));
    return row_fill(store, &s, arena, &target_layout, target);
}

/* Reads what is sent: the event's type and body. */
static bool read_event(struct store *store, struct arena *arena, struct store_delivery *delivery) {
    static struct statement s = {
        .sql = "SELECT e.type, coalesce(e.body, p.body), e.parts FROM event e "
               "LEFT JOIN platform_post p ON p.id = e.post_id WHERE e.id = ?1"};
    sql_start(store, &s, TEXT(delivery->event_id));
    if (!sql_row(store, &s))
        return false;
    delivery->type = column_text(&s, 0, arena);
    delivery->body = forward_assemble(arena, column_blob(&s, 1, arena), column_text(&s, 2, arena));
    sql_stop(&s);
    return true;
}

/* Leases the event to the courier and completes the delivery with it. *is_leased is false when the
 * delivery ended, or another courier leased it, after it was found. */
static bool update_lease(struct store *store, struct arena *arena, const char *event_id,
                         const struct store_exchange *exchange, struct store_delivery *delivery,
                         bool *is_leased) {
    static struct statement s = {
        .sql = "UPDATE delivery SET lease_until = ?4, lease_owner = ?5, attempts = attempts + 1 "
               "WHERE event_id = ?3 AND webhook_id = ?6 AND state = 'pending' "
               "AND (lease_until <= ?1 OR lease_until > ?2) RETURNING attempts"};
    const int64_t now = exchange->now;
    sql_start(store, &s, INTEGER(now), INTEGER(latest_lease(now)), TEXT(event_id),
              INTEGER(now + OUTBOX_LEASE_MS), TEXT(exchange->courier), TEXT(delivery->webhook_id));
    if (!(*is_leased = sql_row(store, &s)))
        return !sql_failed(store);
    delivery->attempts = (int)column_integer(&s, 0);
    delivery->event_id = event_id;
    return !sql_row(store, &s) && /* SQLite writes when the last step is done */
           read_event(store, arena, delivery);
}

/* There is one probe an hour, even when its courier dies. */
static bool start_probe(struct store *store, const char *webhook_id, int64_t now) {
    static struct statement s = {.sql = "UPDATE webhook SET next_probe_at = ?2 WHERE id = ?1"};
    return sql_run(store, &s, TEXT(webhook_id), INTEGER(now + OUTBOX_PROBE_MS));
}

/* --- the order of one webhook's events ---
 *
 * A webhook's due events are in two lists. The list of first attempts contains, for each order key
 * (a contact), its earliest event. The keys take turns in their order. A round ends with the key
 * that was the last one when the round began, so that new keys do not prolong it. The other list
 * contains the events without an order (retries, and events about no contact), the longest waiting
 * one first. When a share does not cover all due events, the two lists alternate in going first.
 */

/* The leasing of one share. */
struct leasing {
    struct store *store;
    struct arena *arena;
    const struct store_exchange *exchange;
    struct store_delivery delivery; /* URL and codes are set; the rest is the last event's */
    struct buffer *rows;
    size_t left;     /* events that may still be leased */
    int64_t turn;    /* number of the webhook's shares that were used up; odd: retries go first */
    const char *key; /* the order key that had the last turn */
    const char *round_end; /* the order key that the round ends with */
};

#define OF_TURN(member) ROW_MEMBER(struct leasing, member)
static const struct row_layout turn_layout =
    ROW_LAYOUT(struct leasing, OF_TURN(turn), OF_TURN(key), OF_TURN(round_end));

static void read_turn(struct leasing *t) {
    static struct statement s = {
        .sql = "SELECT turn, order_key, round_end FROM event_turn WHERE webhook_id = ?1"};
    t->turn = 0;
    t->key = t->round_end = "";
    sql_start(t->store, &s, TEXT(t->delivery.webhook_id));
    row_fill(t->store, &s, t->arena, &turn_layout, t);
}

static bool write_turn(struct leasing *t) {
    static struct statement s = {
        .sql = "INSERT INTO event_turn (webhook_id, turn, order_key, round_end) "
               "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (webhook_id) DO UPDATE "
               "SET turn = excluded.turn, order_key = excluded.order_key, "
               "round_end = excluded.round_end"};
    return sql_run(t->store, &s, TEXT(t->delivery.webhook_id), INTEGER(t->turn + 1), TEXT(t->key),
                   TEXT(t->round_end));
}

static bool lease_event(struct leasing *t, const char *id) {
    bool is_leased;
    if (!update_lease(t->store, t->arena, id, t->exchange, &t->delivery, &is_leased))
        return false;
    if (!is_leased)
        return true;
    buffer_add(t->rows, &t->delivery, sizeof t->delivery);
    t->left--;
    return true;
}

/* Leases at most `limit` events that have no order. */
static void lease_unordered(struct leasing *t, size_t limit) {
    static struct statement s = {
        .sql = "SELECT e.event_id FROM delivery e WHERE e.webhook_id = ?3 AND " IS_WAITING
               " AND (e.attempts > 0 OR e.order_key IS NULL) "
               "ORDER BY e.next_attempt_at, e.sequence LIMIT ?4"};
    size_t count;
    sql_start(t->store, &s, INTEGER(t->exchange->now), INTEGER(latest_lease(t->exchange->now)),
              TEXT(t->delivery.webhook_id), INTEGER((int64_t)limit));
    const char *const *ids = sql_read_ids(t->store, &s, t->arena, &count);
    for (size_t i = 0; i < count && lease_event(t, ids[i]); i++)
        ;
}

/* Starts a round of the order keys that wait now. */
static void start_round(struct leasing *t) {
    static struct statement s = {
        .sql = "SELECT order_key FROM delivery WHERE webhook_id = ?1 AND state = 'pending' "
               "AND attempts = 0 AND order_key IS NOT NULL ORDER BY order_key DESC LIMIT 1"};
    t->key = "";
    sql_start(t->store, &s, TEXT(t->delivery.webhook_id));
    const char *const last = row_text(t->store, &s, t->arena);
    t->round_end = last ? last : "";
}

/* Finds the first due event of the next order key; false at the end of the round, or on failure.
 * `*id` is NULL when an attempt for that key is in progress. */
static bool find_next_key(struct leasing *t, const char **id) {
    static struct statement s = {
        .sql = "SELECT e.order_key, CASE WHEN NOT " IS_BEHIND " THEN e.event_id END "
               "FROM delivery e WHERE e.webhook_id = ?3 AND e.order_key > ?4 "
               "AND e.order_key <= ?5 AND e.attempts = 0 AND " IS_WAITING
               " ORDER BY e.order_key, e.sequence LIMIT 1"};
    sql_start(t->store, &s, INTEGER(t->exchange->now), INTEGER(latest_lease(t->exchange->now)),
              TEXT(t->delivery.webhook_id), TEXT(t->key), TEXT(t->round_end));
    if (!sql_row(t->store, &s))
        return false;
    t->key = column_text(&s, 0, t->arena);
    *id = column_text(&s, 1, t->arena);
    sql_stop(&s);
    return true;
}

/* Leases at most `limit` first attempts: from the rest of this round, then from a new one. Few
 * keys are visited without a result: only those with an attempt in progress. */
static void lease_first_attempts(struct leasing *t, size_t limit) {
    const size_t enough = t->left - limit;
    const char *id;
    for (int rounds = 0; rounds < 2; rounds++) {
        while (t->left > enough && find_next_key(t, &id))
            if (id && !lease_event(t, id))
                return;
        if (t->left <= enough)
            return;
        start_round(t);
    }
}

/* Leases the webhook's share and adds it to `rows`; one event for a probe. */
static bool lease_share(struct store *store, struct arena *arena,
                        const struct store_exchange *exchange, const struct store_share *share,
                        struct buffer *rows) {
    static void (*const lists[])(struct leasing *, size_t) = {lease_first_attempts,
                                                              lease_unordered};
    struct leasing t = {.store = store, .arena = arena, .exchange = exchange, .rows = rows};
    if (!read_target(store, arena, share->webhook_id, exchange->now, &t.delivery))
        return !sql_failed(store);
    const size_t limit = t.left = t.delivery.is_probe ? 1 : share->limit;
    read_turn(&t);
    const int first = (int)(t.turn % 2);
    lists[first](&t, limit - limit / 2);
    lists[!first](&t, t.left);
    lists[first](&t, t.left);
    if (t.delivery.is_probe && t.left < limit)
        start_probe(store, t.delivery.webhook_id, exchange->now);
    return !sql_failed(store) && (t.left || write_turn(&t));
}

/* Inserts the attempt; *is_new is false when it was inserted before, or its event is gone. */
static bool insert_attempt(struct store *store, const struct store_attempt *attempt, bool *is_new) {
    static struct statement s = {
        .sql = "INSERT INTO event_attempt (user_id, event_id, webhook_id, attempt, started_at, "
               "duration_ms, http_status, error, address, response_head) "
               "SELECT e.user_id, e.event_id, e.webhook_id, "
               "(SELECT coalesce(max(a.attempt), 0) + 1 FROM event_attempt a "
               " WHERE a.event_id = e.event_id AND a.webhook_id = e.webhook_id), "
               "?3, ?4, ?5, ?6, ?7, ?8 FROM delivery e WHERE e.event_id = ?1 AND e.webhook_id = ?2 "
               "AND NOT EXISTS (SELECT 1 FROM event_attempt o WHERE o.event_id = e.event_id "
               "  AND o.webhook_id = e.webhook_id AND o.started_at = ?3)"};
    if (!sql_run(store, &s, TEXT(attempt->event_id), TEXT(attempt->webhook_id),
                 INTEGER(attempt->started_at), INTEGER(attempt->duration_ms),
                 attempt->status ? INTEGER(attempt->status) : NO_INTEGER, TEXT(attempt->error),
                 TEXT(attempt->address), BLOB(attempt->response_head)))
        return false;
    *is_new = sql_changes(store) > 0;
    return true;
}

static bool end_delivered(struct store *store, const struct store_attempt *attempt, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE delivery SET state = 'done', finished_at = ?3, lease_until = 0, "
               "lease_owner = NULL, last_attempt_at = ?4, last_status = ?5, last_error = NULL "
               "WHERE event_id = ?1 AND webhook_id = ?2 AND state = 'pending'"};
    return sql_run(store, &s, TEXT(attempt->event_id), TEXT(attempt->webhook_id), INTEGER(now),
                   INTEGER(attempt->started_at), INTEGER(attempt->status));
}

/* Makes the delivery pending again, or dead. */
static bool end_failed(struct store *store, const char *courier,
                       const struct store_attempt *attempt, int64_t now) {
    static struct statement s = {
        .sql = "UPDATE delivery SET state = ?4, finished_at = ?5, next_attempt_at = "
               "coalesce(?6, next_attempt_at), attempts = attempts - ?7, lease_until = 0, "
               "lease_owner = NULL, last_attempt_at = ?10, last_status = ?8, last_error = ?9 "
               "WHERE event_id = ?1 AND webhook_id = ?2 AND state = 'pending' "
               "AND lease_owner = ?3"};
    bool is_over = attempt->verdict != VERDICT_RETRY;
    return sql_run(store, &s, TEXT(attempt->event_id), TEXT(attempt->webhook_id), TEXT(courier),
                   TEXT(is_over ? "dead" : "pending"), is_over ? INTEGER(now) : NO_INTEGER,
                   is_over ? NO_INTEGER : INTEGER(attempt->next_attempt_at),
                   INTEGER(attempt->is_probe && !is_over ? 1 : 0),
                   attempt->status ? INTEGER(attempt->status) : NO_INTEGER, TEXT(attempt->error),
                   INTEGER(attempt->started_at));
}

/* Ends the webhook's failure; if it was suspended, all its pending deliveries become due. */
static bool update_after_success(struct store *store, const struct store_attempt *attempt,
                                 int64_t now) {
    static struct statement recover = {
        .sql = "UPDATE webhook SET failing_since = NULL, suspended_at = NULL, "
               "next_probe_at = NULL WHERE id = ?1 AND updated_at <= ?2 "
               "AND (failing_since IS NOT NULL OR suspended_at IS NOT NULL) "
               "AND (suspended_at IS NULL OR suspended_at <= ?2)"};
    return sql_run(store, &recover, TEXT(attempt->webhook_id), INTEGER(attempt->started_at)) &&
           (!attempt->is_probe || !sql_changes(store) ||
            outbox_make_due(store, attempt->webhook_id, now));
}

/* Marks the webhook as failing; suspends it after five days of failures, or at a 410. */
static bool update_after_failure(struct store *store, const struct store_attempt *attempt,
                                 int64_t now) {
    static struct statement count = {
        .sql = "UPDATE webhook SET failing_since = coalesce(failing_since, ?2) "
               "WHERE id = ?1 AND updated_at <= ?2"};
    static struct statement suspend = {
        .sql = "UPDATE webhook SET suspended_at = ?3, next_probe_at = ?4 WHERE id = ?1 "
               "AND updated_at <= ?2 AND suspended_at IS NULL AND (?5 = 1 OR failing_since <= ?6)"};
    return sql_run(store, &count, TEXT(attempt->webhook_id), INTEGER(attempt->started_at)) &&
           sql_run(store, &suspend, TEXT(attempt->webhook_id), INTEGER(attempt->started_at),
                   INTEGER(now), INTEGER(now + OUTBOX_PROBE_MS),
                   INTEGER(attempt->verdict == VERDICT_GONE),
                   INTEGER(now - OUTBOX_SUSPEND_AFTER_MS));
}

/* An attempt that was inserted before was also applied then, in the same transaction. Adds the id
 * of an event whose delivery changed to `changed`. */
static bool end_attempt(struct store *store, const struct store_exchange *exchange,
                        const struct store_attempt *attempt, struct buffer *changed) {
    const bool is_delivered = attempt->verdict == VERDICT_DELIVERED;
    bool is_new;
    if (!insert_attempt(store, attempt, &is_new))
        return false;
    if (!is_new)
        return true;
    if (!(is_delivered ? end_delivered(store, attempt, exchange->now)
                       : end_failed(store, exchange->courier, attempt, exchange->now)))
        return false;
    if (sql_changes(store))
        buffer_add(changed, &attempt->event_id, sizeof attempt->event_id);
    return is_delivered ? update_after_success(store, attempt, exchange->now)
                        : update_after_failure(store, attempt, exchange->now);
}

/* Applies all attempts, then sets the state of each of their events once. */
static bool end_attempts(struct store *store, struct arena *arena,
                         const struct store_exchange *exchange) {
    struct buffer changed = buffer_in(arena);
    bool ok = true;
    for (size_t i = 0; ok && i < exchange->attempt_count; i++)
        ok = end_attempt(store, exchange, &exchange->attempts[i], &changed);
    const size_t count = outbox_distinct(&changed);
    const char *const *ids = (const char *const *)(void *)changed.p;
    for (size_t i = 0; ok && i < count; i++)
        ok = outbox_summarize(store, ids[i], exchange->now);
    return ok;
}

/* Locks the users of the attempts and of the shares, so that one courier at a time leases a user's
 * events and no other process changes the webhook meanwhile. */
static bool lock_exchange(struct store *store, struct arena *arena,
                          const struct store_exchange *exchange) {
    const size_t count = exchange->attempt_count + exchange->share_count;
    const char **users = arena_alloc(arena, count * sizeof *users);
    size_t n = 0;
    for (size_t i = 0; i < exchange->attempt_count; i++)
        users[n++] = exchange->attempts[i].user_id;
    for (size_t i = 0; i < exchange->share_count; i++)
        users[n++] = exchange->shares[i].user_id;
    sql_lock(store, LOCK_USER, NULL, users, n);
    return !sql_failed(store);
}

/* Whether an earlier run leased the events `rows`: one of them is enough, since all are leased in
 * one transaction. */
static bool has_leased(struct store *store, const struct store_exchange *exchange,
                       const struct buffer *rows) {
    static struct statement s = {
        .sql = "SELECT event_id FROM delivery WHERE event_id = ?1 AND webhook_id = ?2 "
               "AND state = 'pending' AND lease_owner = ?3 AND lease_until = ?4"};
    const struct store_delivery *first = (const struct store_delivery *)(void *)rows->p;
    char id[ID_SIZE];
    if (!rows->n)
        return false;
    sql_start(store, &s, TEXT(first->event_id), TEXT(first->webhook_id), TEXT(exchange->courier),
              INTEGER(exchange->now + OUTBOX_LEASE_MS));
    return sql_read_id(store, &s, id);
}

static void exchange_events(struct store *store, struct arena *arena,
                            const struct store_exchange *exchange, struct buffer *rows) {
    bool ok = lock_exchange(store, arena, exchange);
    if (!ok || (sql_may_have_committed(store) && has_leased(store, exchange, rows)))
        return;
    *rows = buffer_in(arena);
    ok = end_attempts(store, arena, exchange);
    for (size_t i = 0; ok && i < exchange->share_count; i++)
        ok = lease_share(store, arena, exchange, &exchange->shares[i], rows);
}

enum store_result store_exchange_events(struct store *store, struct arena *arena,
                                        const struct store_exchange *exchange,
                                        struct store_delivery **deliveries, size_t *count) {
    struct buffer rows = buffer_in(arena);
    while (sql_transact(store))
        exchange_events(store, arena, exchange, &rows);
    enum store_result result = sql_result(store);
    *deliveries = (struct store_delivery *)(void *)rows.p;
    *count = result == STORE_OK ? rows.n / sizeof **deliveries : 0;
    return result;
}

enum store_result store_release_event(struct store *store, const char *courier,
                                      const char *event_id, const char *webhook_id) {
    static struct statement s = {
        .sql = "UPDATE delivery SET lease_until = 0, lease_owner = NULL, attempts = attempts - 1 "
               "WHERE event_id = ?1 AND webhook_id = ?3 AND lease_owner = ?2 "
               "AND state = 'pending'"};
    while (sql_transact(store))
        sql_run(store, &s, TEXT(event_id), TEXT(courier), TEXT(webhook_id));
    return sql_result(store);
}
