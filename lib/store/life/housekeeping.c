#include "store/housekeeping.h"

#include "engine/row.h"
#include "store/campaign.h"
#include "store/chore.h"
#include "store/event/event_entry.h"
#include "store/heartbeat.h"
#include "store/idempotency_key.h"
#include "store/logins.h"
#include "store/outgoing.h"

#define DAYS (24 * 60 * 60 * INT64_C(1000))

enum { ROWS_AT_ONCE = 500 }; /* per transaction: a short one, since other writers wait for it */

/* How long finished events are kept, by state. */
static const struct {
    const char *state;
    int64_t kept;
} kept[] = {{"done", 7 * DAYS}, {"cancelled", 7 * DAYS}, {"dead", 30 * DAYS}};

static const int64_t heartbeat_kept = 7 * DAYS;
static const int64_t longest_wait = 3 * DAYS;        /* a retry is due in 2 days at most */
static const int64_t longest_probe_wait = DAYS / 12; /* a probe is due in one hour */

/* The oldest of the events that ended in one state at `until` or before. */
struct old_events {
    const char *state;
    int64_t until;
    size_t count;
    char ids[ROWS_AT_ONCE][ID_SIZE], users[ROWS_AT_ONCE][ID_SIZE];
    char posts[ROWS_AT_ONCE][ID_SIZE]; /* the POST that it is made of; "": none */
};

/* Lists the events, and locks their users, so that none is replayed while its rows are deleted. */
static void lock_old(struct store *store, struct old_events *old) {
    static struct statement s = {.sql = "SELECT id, user_id, post_id FROM event WHERE state = ?1 "
                                        "AND finished_at <= ?2 ORDER BY finished_at LIMIT ?3"};
    const char *users[ROWS_AT_ONCE];
    old->count = 0;
    sql_start(store, &s, TEXT(old->state), INTEGER(old->until), INTEGER(ROWS_AT_ONCE));
    for (; sql_row(store, &s); old->count++) {
        column_id(&s, 0, old->ids[old->count]);
        column_id(&s, 1, old->users[old->count]);
        column_id(&s, 2, old->posts[old->count]);
        users[old->count] = old->users[old->count];
    }
    if (old->count)
        sql_lock(store, LOCK_USER, NULL, users, old->count);
}

/* Deletes those of the POSTs that no event is made of any more. */
static void prune_posts(struct store *store, const struct old_events *old) {
    static struct statement s = {
        .sql = "DELETE FROM platform_post WHERE id = ?1 "
               "AND NOT EXISTS (SELECT 1 FROM event e WHERE e.post_id = platform_post.id)"};
    const char *last = "";
    for (size_t i = 0; i < old->count; last = old->posts[i++])
        if (strcmp(old->posts[i], last) != 0 && !sql_run(store, &s, TEXT(old->posts[i])))
            return;
}

/* Those of EVENTS_PER_STATEMENT events that were not replayed before they were locked. The form of
 * the conditions leaves the search to the ids. */
#define STILL_OLD                                                                                  \
    "NOT (state <> ?1 OR finished_at > ?2) AND id IN (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, " \
    "?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)"
enum { EVENTS_PER_STATEMENT = 20 };

/* Deletes the rows of the next events from number `first`; false on failure. */
static bool delete_some(struct store *store, const struct old_events *old, size_t first,
                        size_t *removed) {
    static struct statement steps[] = {
        {.sql = "DELETE FROM event_attempt WHERE event_id IN "
                "(SELECT id FROM event WHERE " STILL_OLD ")"},
        {.sql =
             "DELETE FROM delivery WHERE event_id IN (SELECT id FROM event WHERE " STILL_OLD ")"},
        {.sql = "DELETE FROM event WHERE " STILL_OLD},
    };
    struct parameter parameters[2 + EVENTS_PER_STATEMENT] = {TEXT(old->state), INTEGER(old->until)};
    for (size_t i = 0; i < EVENTS_PER_STATEMENT; i++)
        parameters[2 + i] = TEXT(first + i < old->count ? old->ids[first + i] : NULL);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        sql_start_with(store, &steps[i], parameters, sizeof parameters / sizeof *parameters);
        if (sql_row(store, &steps[i]) || sql_failed(store))
            return false;
    }
    *removed += (size_t)sql_changes(store);
    return true;
}

/* Deletes events that ended in `state` at `until` or before, oldest first. */
static enum store_result prune_state(struct store *store, const char *state, int64_t until,
                                     size_t *removed) {
    static struct statement find = {.sql = "SELECT 1 FROM event WHERE state = ?1 AND finished_at "
                                           "<= ?2 ORDER BY finished_at LIMIT 1"};
    struct old_events old = {.state = state, .until = until};
    sql_start(store, &find, TEXT(state), INTEGER(until));
    if (!row_exists(store, &find))
        return sql_result(store); /* without taking the write lock */
    bool is_free = false;
    while (sql_transact(store)) {
        size_t deleted = 0;
        if (!chore_take(store, &is_free))
            continue;
        lock_old(store, &old);
        for (size_t i = 0; i < old.count; i += EVENTS_PER_STATEMENT)
            if (!delete_some(store, &old, i, &deleted))
                break;
        prune_posts(store, &old);
        if (deleted || !sql_may_have_committed(store))
            *removed = deleted;
    }
    return chore_result(store, is_free);
}

/* Deletes webhooks that were deleted and have no delivery any more. */
static enum store_result prune_webhooks(struct store *store, size_t *removed) {
#define WITHOUT_DELIVERIES                                                                         \
    "SELECT w.id FROM webhook w WHERE w.deleted_at IS NOT NULL "                                   \
    "AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.webhook_id = w.id) LIMIT ?1"
    static struct statement find = {.sql = WITHOUT_DELIVERIES};
    static struct statement turns = {
        .sql = "DELETE FROM event_turn WHERE webhook_id IN (" WITHOUT_DELIVERIES ")"};
    static struct statement webhooks = {
        .sql = "DELETE FROM webhook WHERE id IN (" WITHOUT_DELIVERIES ")"};
    const struct parameter most = INTEGER(ROWS_AT_ONCE);
    sql_start(store, &find, INTEGER(1));
    if (!row_exists(store, &find))
        return sql_result(store);
    bool is_free = false;
    while (sql_transact(store))
        if (chore_take(store, &is_free) && sql_run(store, &turns, most) &&
            sql_run(store, &webhooks, most))
            *removed = (size_t)sql_changes(store);
    return chore_result(store, is_free);
}

static enum store_result prune_keys(struct store *store, int64_t before, size_t *removed) {
    static struct statement find = {
        .sql = "SELECT 1 FROM idempotency WHERE created_at < ?1 ORDER BY created_at LIMIT 1"};
    static struct statement keys = {
        /* the last condition holds for a key that another transaction started again too */
        .sql = "DELETE FROM idempotency WHERE (user_id, key) IN (SELECT user_id, key "
               "FROM idempotency WHERE created_at < ?1 ORDER BY created_at LIMIT ?2) "
               "AND NOT created_at >= ?1"};
    const struct parameter parameters[] = {INTEGER(before), INTEGER(ROWS_AT_ONCE)};
    return chore_do(store, &(struct chore){&find, &keys, parameters, 1, 2}, removed);
}

enum store_result store_delete_old_rows(struct store *store, int64_t now, size_t *removed) {
    enum store_result result = STORE_OK;
    *removed = 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && result == STORE_OK && !*removed; i++)
        result = prune_state(store, kept[i].state, now - kept[i].kept, removed);
    if (result == STORE_OK && !*removed)
        result = prune_keys(store, now - IDEMPOTENCY_KEPT_MS, removed);
    if (result == STORE_OK && !*removed)
        result = prune_webhooks(store, removed);
    if (result == STORE_OK && !*removed)
        result = store_delete_old_logins(store, now, ROWS_AT_ONCE, removed);
    if (result == STORE_OK && !*removed)
        result = store_delete_old_outgoing(store, now, removed);
    if (result == STORE_OK && !*removed)
        result = store_delete_old_campaigns(store, now, removed);
    if (result == STORE_OK && !*removed)
        result = store_delete_heartbeats(store, now - heartbeat_kept, removed);
    return result;
}

/* Finds a webhook with a pending delivery that is due after `latest`. NULL: there is none. */
static const char *find_webhook_with_wrong_times(struct store *store, struct arena *arena,
                                                 int64_t latest) {
    static struct statement s = {
        .sql = WEBHOOKS_WAITING
        "SELECT w.webhook_id FROM waiting w WHERE EXISTS (SELECT 1 FROM delivery e "
        "  WHERE e.webhook_id = w.webhook_id AND e.state = 'pending' "
        "  AND e.next_attempt_at > ?1) LIMIT 1"};
    sql_start(store, &s, INTEGER(latest));
    return row_text(store, &s, arena);
}

static enum store_result repair_deliveries(struct store *store, const char *webhook_id, int64_t now,
                                           size_t *mended) {
    static struct statement s = {
        .sql = "UPDATE delivery SET next_attempt_at = ?1 WHERE webhook_id = ?3 "
               "AND next_attempt_at > ?2 AND event_id IN (SELECT e.event_id FROM delivery e WHERE "
               "e.webhook_id = ?3 "
               "AND e.state = 'pending' AND e.next_attempt_at > ?2 LIMIT ?4)"};
    bool is_free = false;
    while (sql_transact(store))
        if (chore_take(store, &is_free) &&
            sql_run(store, &s, INTEGER(now), INTEGER(now + longest_wait), TEXT(webhook_id),
                    INTEGER(ROWS_AT_ONCE)))
            *mended = (size_t)sql_changes(store);
    return chore_result(store, is_free);
}

#define WEBHOOK_WITH_WRONG_TIMES                                                                   \
    "(next_probe_at > ?2 OR suspended_at > ?2 OR failing_since > ?2 OR updated_at > ?2)"

static enum store_result repair_webhooks(struct store *store, int64_t now, size_t *mended) {
    static struct statement find = {.sql = "SELECT 1 FROM webhook WHERE " WEBHOOK_WITH_WRONG_TIMES
                                           " LIMIT 1"};
    static struct statement mend = {
        .sql = "UPDATE webhook SET next_probe_at = CASE WHEN next_probe_at > ?2 THEN ?1 "
               "ELSE next_probe_at END, suspended_at = CASE WHEN suspended_at > ?2 THEN ?1 "
               "ELSE suspended_at END, failing_since = CASE WHEN failing_since > ?2 THEN ?1 "
               "ELSE failing_since END, updated_at = CASE WHEN updated_at > ?2 THEN ?1 "
               "ELSE updated_at END WHERE " WEBHOOK_WITH_WRONG_TIMES};
    const struct parameter times[] = {INTEGER(now), INTEGER(now + longest_probe_wait)};
    return chore_do(store, &(struct chore){&find, &mend, times, 2, 2}, mended);
}

enum store_result store_repair_times(struct store *store, struct arena *arena, int64_t now,
                                     size_t *mended) {
    *mended = 0;
    const char *webhook_id = find_webhook_with_wrong_times(store, arena, now + longest_wait);
    enum store_result result = sql_result(store);
    if (result != STORE_OK)
        return result;
    return webhook_id ? repair_deliveries(store, webhook_id, now, mended)
                      : repair_webhooks(store, now, mended);
}
