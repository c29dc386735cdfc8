#include "store/event_replay.h"

#include <stdlib.h>

#include "store/deed.h"
#include "store/event/event_entry.h"

/* memory for the ids of one transaction and a user's webhooks */
enum { LISTED_LIMIT = 8 * 1024 * 1024 };

/* ?1 is now. A delivery that is made now keeps its lease and its result. A merge does not update
 * the contact of finished deliveries: the contact that remained is looked up here. */
#define REPLAY                                                                                     \
    "UPDATE delivery SET state = 'pending', attempts = 0, next_attempt_at = ?1, "                  \
    "finished_at = NULL, lease_until = 0, lease_owner = NULL, "                                    \
    "order_key = coalesce((SELECT m.contact_id FROM contact_merge m "                              \
    "  WHERE m.merged_id = delivery.order_key), order_key) "                                       \
    "WHERE NOT (state = 'pending' AND lease_until > ?1) AND EXISTS (SELECT 1 FROM webhook w "      \
    "  WHERE w.id = delivery.webhook_id AND " WEBHOOK_IS_SET ") "

/* The events of which a delivery was replayed are pending. */
#define REOPEN                                                                                     \
    "UPDATE event SET state = 'pending', finished_at = NULL WHERE state <> 'pending' "             \
    "AND EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = event.id AND d.state = 'pending') "

/* ?1 is now, ?2 the event. A delivery that waits for its next attempt keeps its attempts. */
#define HASTEN                                                                                     \
    "UPDATE delivery SET next_attempt_at = ?1 WHERE event_id = ?2 "                                \
    "AND state = 'pending' AND next_attempt_at > ?1 AND lease_until <= ?1 "

/* Locks the deliveries of the users, and their counters, which a merge of contacts raises before it
 * changes the order of pending deliveries. */
static void lock_users(struct store *store, const char *const *ids, size_t count) {
    sql_lock(store, LOCK_USER, NULL, ids, count);
    sql_lock(store, LOCK_COUNTERS, NULL, ids, count);
}

static bool reopen(struct store *store, const char *id) {
    static struct statement s = {.sql = REOPEN "AND id = ?1"};
    return sql_run(store, &s, TEXT(id));
}

/* --- events whose webhooks are gone --- */

#define OF(member) ROW_MEMBER(struct store_event, member)
static const struct row_layout layout = ROW_LAYOUT(struct store_event, OF(user_id), OF(type),
                                                   OF(line_id), OF(sequence), OF(contact.id));

/* Reads the event, if it is not a forward and no webhook of its deliveries exists any more. Its
 * type, line and contact are in `arena`. */
static bool find_orphan(struct store *store, struct arena *arena, const char *id, int64_t now,
                        struct store_event *event) {
    static struct statement s = {
        .sql = "SELECT e.user_id, e.type, e.line_id, e.sequence, coalesce((SELECT m.contact_id "
               "FROM contact_merge m WHERE m.merged_id = e.contact_id), e.contact_id) "
               "FROM event e WHERE e.id = ?1 AND e.is_forward = 0 AND NOT EXISTS "
               "(SELECT 1 FROM delivery d JOIN webhook w ON w.id = d.webhook_id "
               " WHERE d.event_id = e.id AND w.deleted_at IS NULL)"};
    *event = (struct store_event){.now = now};
    sql_start(store, &s, TEXT(id));
    return row_fill(store, &s, arena, &layout, event);
}

/* Inserts deliveries of such an event to the webhooks that want it now. */
static bool adopt(struct store *store, const char *id, int64_t now) {
    struct arena arena;
    struct store_event event;
    struct webhook_list webhooks;
    arena_init(&arena, LISTED_LIMIT, NULL);
    if (find_orphan(store, &arena, id, now, &event) &&
        webhook_match_list(store, &arena, event.user_id, &webhooks))
        outbox_deliver_all(store, &webhooks, &event, id, event.contact.id);
    arena_free(&arena);
    return !sql_failed(store);
}

/* --- one event --- */

/* Whether the event of the user, or of any user, exists. Locks its user until the transaction ends.
 */
static bool lock_owner(struct store *store, const char *owner, const char *id) {
    static struct statement s = {
        .sql = "SELECT e.user_id FROM event e WHERE e.id = ?1 AND (e.user_id = ?2 OR ?2 IS NULL)"};
    char user_id[ID_SIZE];
    const char *locked = user_id;
    sql_start(store, &s, TEXT(id), TEXT(owner));
    if (!sql_read_id(store, &s, user_id))
        return false;
    lock_users(store, &locked, 1);
    return !sql_failed(store);
}

/* Whether the event has a delivery that can be made. */
static bool has_target(struct store *store, const char *id) {
    static struct statement s = {
        .sql = "SELECT 1 FROM delivery d JOIN webhook w ON w.id = d.webhook_id "
               "WHERE d.event_id = ?1 AND " WEBHOOK_IS_SET " LIMIT 1"};
    sql_start(store, &s, TEXT(id));
    return row_exists(store, &s);
}

/* Makes the deliveries due that wait for their next attempt. */
static bool hasten(struct store *store, const char *id, int64_t now) {
    static struct statement s = {.sql = HASTEN};
    return sql_run(store, &s, INTEGER(now), TEXT(id));
}

enum store_result store_replay_event(struct store *store, const char *user_id, const char *id,
                                     int64_t now) {
    static struct statement s = {.sql = REPLAY
                                 "AND event_id = ?2 AND (state <> 'pending' OR ?3 IS NULL)"};
    bool found = false, has_webhook = false;
    while (sql_transact(store)) {
        found = lock_owner(store, user_id, id);
        has_webhook = found && adopt(store, id, now) && hasten(store, id, now) &&
                      sql_run(store, &s, INTEGER(now), TEXT(id), TEXT(user_id)) &&
                      reopen(store, id) && has_target(store, id);
        if (has_webhook && user_id)
            store_trail(store, user_id, id);
    }
    enum store_result result = sql_result(store);
    if (result != STORE_OK)
        return result;
    return !found ? STORE_NOT_FOUND : has_webhook ? STORE_OK : STORE_CONFLICT;
}

/* --- the events of a period --- */

/* Finds the last existing event in [first, end). */
static bool find_last(struct store *store, const char *first, const char *end, char id[ID_SIZE]) {
    static struct statement s = {.sql = "SELECT max(id) FROM event WHERE id >= ?1 AND id < ?2"};
    sql_start(store, &s, TEXT(first), TEXT(end));
    return sql_read_id(store, &s, id);
}

/* Lists the first events in [first, last], at most STORE_REPLAYED_AT_ONCE + 1, and locks their
 * users until the transaction ends. */
static bool lock_events(struct store *store, const char *first, const char *last,
                        char ids[STORE_REPLAYED_AT_ONCE + 1][ID_SIZE], size_t *count) {
    static struct statement s = {
        .sql = "SELECT id, user_id FROM event WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3"};
    char owners[STORE_REPLAYED_AT_ONCE + 1][ID_SIZE];
    const char *users[STORE_REPLAYED_AT_ONCE + 1];
    *count = 0;
    sql_start(store, &s, TEXT(first), TEXT(last), INTEGER(STORE_REPLAYED_AT_ONCE + 1));
    for (; sql_row(store, &s); ++*count) {
        column_id(&s, 0, ids[*count]);
        column_id(&s, 1, owners[*count]);
        users[*count] = owners[*count];
    }
    if (*count)
        lock_users(store, users, *count);
    return !sql_failed(store);
}

/* Replays an event, which counts when it has a delivery that is due now. */
static bool replay_one(struct store *store, const char *id, int64_t now, size_t *count) {
    static struct statement replay = {.sql = REPLAY "AND event_id = ?2"};
    if (!adopt(store, id, now) || !sql_run(store, &replay, INTEGER(now), TEXT(id)))
        return false;
    *count += sql_changes(store) > 0;
    return reopen(store, id);
}

/* Replays the first events in [first, last]. `next` is the first one after them, "" at the end. */
static enum store_result replay_batch(struct store *store, char first[ID_SIZE], const char *last,
                                      int64_t now, size_t *count, char next[ID_SIZE]) {
    char ids[STORE_REPLAYED_AT_ONCE + 1][ID_SIZE];
    const size_t before = *count;
    size_t found;
    while (sql_transact(store)) {
        *count = before;
        *next = '\0';
        if (!lock_events(store, first, last, ids, &found))
            continue;
        if (found > STORE_REPLAYED_AT_ONCE)
            memcpy(next, ids[--found], ID_SIZE);
        for (size_t i = 0; i < found && replay_one(store, ids[i], now, count); i++)
            ;
    }
    return sql_result(store);
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

/* --- the dead deliveries of a user, and those that wait for a repetition --- */

/* A kind of deliveries that are replayed: of ?1, a webhook, and events from the id ?2 on, at most
 * ?3; ?4 is now. */
struct replay_kind {
    struct statement list, replay;
    size_t parameter_count; /* of `list` */
    bool reopens;           /* the events */
};

static struct replay_kind replay_kinds[] = {
    /* the oldest dead ones */
    {.list = {.sql = "SELECT event_id FROM delivery WHERE webhook_id = ?1 AND state = 'dead' "
                     "AND event_id >= ?2 "
                     "ORDER BY event_id LIMIT ?3"},
     .replay = {.sql = REPLAY "AND event_id = ?2 AND webhook_id = ?3"},
     .parameter_count = 3,
     .reopens = true},
    /* those that wait for their next attempt, and keep their attempts */
    {.list = {.sql = "SELECT event_id FROM delivery WHERE webhook_id = ?1 AND state = 'pending' "
                     "AND (attempts > 0 OR order_key IS NULL) AND next_attempt_at > ?4 "
                     "AND lease_until <= ?4 AND event_id >= ?2 "
                     "ORDER BY next_attempt_at, sequence LIMIT ?3"},
     .replay = {.sql = HASTEN "AND webhook_id = ?3"},
     .parameter_count = 4}};

/* Replays the first deliveries of a kind to a webhook, and adds the ids of their events to `done`;
 * *more: there are others than those that fit into `done`. */
static bool replay_some(struct store *store, struct replay_kind *kind, const char *webhook_id,
                        const char *first, int64_t now, struct buffer *done, bool *more) {
    const size_t left = STORE_REPLAYED_AT_ONCE - done->n / sizeof(char *);
    const struct parameter parameters[] = {TEXT(webhook_id), TEXT(first),
                                           INTEGER((int64_t)left + 1), INTEGER(now)};
    size_t n;
    sql_start_with(store, &kind->list, parameters, kind->parameter_count);
    const char *const *ids = sql_read_ids(store, &kind->list, done->arena, &n);
    *more = n > left;
    n = *more ? left : n;
    for (size_t i = 0; i < n; i++)
        if (!sql_run(store, &kind->replay, INTEGER(now), TEXT(ids[i]), TEXT(webhook_id)) ||
            (kind->reopens && !reopen(store, ids[i])))
            return false;
    buffer_add(done, ids, n * sizeof *ids);
    return !sql_failed(store);
}

/* Replays deliveries of each webhook: the dead ones, and with two kinds those that wait. */
static void replay_each(struct store *store, struct arena *arena,
                        const struct webhook_list *webhooks, size_t kind_count, const char *first,
                        int64_t now, size_t *count, bool *more) {
    struct buffer done = buffer_in(arena);
    for (size_t i = 0; i < webhooks->count * kind_count && !*more; i++)
        if (!replay_some(store, &replay_kinds[i % kind_count], webhooks->list[i / kind_count].id,
                         first, now, &done, more))
            return;
    *count = outbox_distinct(&done);
}

enum store_result store_replay_failed_events(struct store *store, const char *user_id,
                                             int64_t since, bool retrying, int64_t now,
                                             size_t *count, bool *more) {
    struct arena arena;
    struct webhook_list webhooks = {.count = 0};
    char first[ID_SIZE];
    id_least(first, "evt_", since);
    arena_init(&arena, LISTED_LIMIT, NULL);
    *count = 0;
    *more = false;
    while (sql_transact(store)) {
        arena_reset(&arena);
        *count = webhooks.count = 0;
        *more = false;
        lock_users(store, &user_id, 1);
        if (!sql_failed(store) && webhook_match_list(store, &arena, user_id, &webhooks))
            replay_each(store, &arena, &webhooks, retrying ? 2 : 1, first, now, count, more);
        if (webhooks.count)
            store_trail(store, user_id, NULL);
    }
    enum store_result result = sql_result(store);
    arena_free(&arena);
    return result == STORE_OK && !webhooks.count ? STORE_CONFLICT : result;
}
