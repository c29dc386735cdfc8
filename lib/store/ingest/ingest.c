/* How a payload is stored, in one transaction:
 *
 * 1. The owner of each update is found: the line, or the account (update_owner.c). Neighbours with
 *    one owner make a run.
 * 2. All identities and ids of messages that the updates name are locked, account by account in the
 *    order of their ids, before a row that they protect is read. Contacts and counters are locked
 *    when an update needs them.
 * 3. Each update is handled by the function of its kind, in the order of the payload (`handlers`).
 *    Most find a contact (identity.c), write a row, and add events (update_event.c).
 * 4. What many updates change in one row, such as the counters of a user or the last message of a
 *    thread, is collected in memory and written once, before the commit (engine/tally.h).
 * 5. A copy of the POST is added for each webhook that wants it unchanged (forward_entry.c).
 *
 * An update that violates a constraint must not lose the others: the transaction is repeated, then
 * with a savepoint for each part of the payload, and such an update is stored as it is. An update
 * that is stored already changes nothing, so that the platform may send a payload again.
 */
#include <string.h>

#include "store/ingest.h"

#include "engine/tally.h"
#include "store/event/webhook_match.h"
#include "store/ingest/forward_entry.h"
#include "store/ingest/ingest_update.h"

enum { PART = 100 }; /* updates within a savepoint */

/* --- updates that are skipped because their line belongs to another account than the WABA id that
 * they name; `switchboard doctor` shows these ids --- */

enum { FOREIGN_WABAS_KEPT = 10 }; /* for each line */

/* A line, and the WABA id of another account. */
struct foreign {
    const char *line_id, *waba_id;
    int64_t now;
    int64_t count; /* of skipped updates */
};

/* Inserts or counts a foreign WABA. The latest ones of each line are kept. A repetition of the call
 * has the same time: it counts nothing. */
static bool upsert_foreign(struct store *store, void *entry) {
    static struct statement add = {
        .sql = "INSERT INTO foreign_waba (line_id, waba_id, count, first_at, last_at) "
               "VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (line_id, waba_id) DO UPDATE "
               "SET count = foreign_waba.count + excluded.count, last_at = excluded.last_at "
               "WHERE foreign_waba.last_at <> excluded.last_at"};
    static struct statement delete_oldest = {
        .sql = "DELETE FROM foreign_waba WHERE line_id = ?1 AND waba_id IN "
               "(SELECT f.waba_id FROM foreign_waba f WHERE f.line_id = ?1 AND f.waba_id <> ?2 "
               " ORDER BY f.last_at DESC, f.waba_id LIMIT 100 OFFSET ?3)"};
    const struct foreign *foreign = entry;
    return sql_run_later(store, &add, TEXT(foreign->line_id), TEXT(foreign->waba_id),
                         INTEGER(foreign->count), INTEGER(foreign->now)) &&
           sql_run_later(store, &delete_oldest, TEXT(foreign->line_id), TEXT(foreign->waba_id),
                         INTEGER(FOREIGN_WABAS_KEPT - 1));
}

static int compare_foreign(const void *a, const void *b) {
    const struct foreign *first = a, *second = b;
    const int order = strcmp(first->line_id, second->line_id);
    return order ? order : strcmp(first->waba_id, second->waba_id);
}

static struct foreign foreign_room[2 * 64];
static struct tally foreigners = {.name = "foreign_waba",
                                  TALLY_IN(foreign_room),
                                  .order = compare_foreign,
                                  .write = upsert_foreign};

/* Counts a skipped update of the line at the time `now`, in ms, once the transaction ends; until
 * then the ids stay valid. In a payload with more of them than fit, an id that comes back later is
 * not counted again. False on failure. */
static bool count_foreign(struct store *store, const char *line_id, const char *waba_id,
                          int64_t now) {
    const struct foreign key = {line_id, waba_id, now, 0};
    struct foreign *known = tally_find(&foreigners, compare_foreign, &key);
    if (!known && !(known = tally_add(store, &foreigners, &key)))
        return false;
    known->count++;
    return true;
}

/* --- the updates of a payload --- */

static update_handler *const handlers[] = {
    [UPDATE_MESSAGE] = ingest_message,   [UPDATE_ECHO] = ingest_message,
    [UPDATE_HISTORY] = ingest_message,   [UPDATE_STATUS] = ingest_status,
    [UPDATE_IDENTITY] = ingest_identity, [UPDATE_LEAD] = ingest_lead,
    [UPDATE_TEMPLATE] = ingest_template, [UPDATE_FLOW] = ingest_flow,
    [UPDATE_OTHER] = ingest_other,
};

/* An update that an earlier run stored, whose commit is unknown, is no duplicate. */
static void settle(const struct ingest *in, struct store_update *update,
                   enum store_outcome earlier) {
    if (update->outcome == OUTCOME_DUPLICATE && sql_may_have_committed(in->store))
        update->outcome = earlier;
}

static bool handle(struct ingest *in, struct store_update *update) {
    if (in->owner.user_id && !in->owner.is_foreign)
        return handlers[update->kind](in, update);
    update->outcome = OUTCOME_NO_OWNER;
    return !in->owner.is_foreign ||
           count_foreign(in->store, in->owner.line_id, update->waba_id, in->now);
}

/* Stores an update that violates a constraint as it is. */
static bool insert_refused(struct ingest *in, struct store_update *update) {
    const enum store_outcome earlier = update->outcome;
    const bool ok = ingest_insert_raw(in, update, OUTCOME_REFUSED);
    settle(in, update, earlier);
    return ok;
}

static void set_owner(struct ingest *in, size_t index) {
    while (in->run->end <= index)
        in->run++;
    in->owner = in->run->owner;
}

/* Handles the updates from `*next` on until one fails, or `end`. */
static bool handle_some(struct ingest *in, struct store_update *updates, size_t *next, size_t end,
                        bool waits) {
    for (; *next < end; ++*next) {
        const enum store_outcome earlier = updates[*next].outcome;
        set_owner(in, *next);
        if (!handle(in, &updates[*next]) || !sql_is_within_limit(in->store, 0) ||
            (waits && !sql_wait(in->store))) {
            updates[*next].outcome = earlier;
            return false;
        }
        settle(in, &updates[*next], earlier);
        arena_reset(in->arena);
    }
    return true;
}

static bool run(struct ingest *in, struct statement *s) {
    sql_start_with(in->store, s, NULL, 0);
    return !sql_row(in->store, s) && !sql_failed(in->store);
}

/* Handles updates one of which violates a constraint: within a savepoint as many as can be. That
 * update is stored as it is, and the ones before it are handled again. A server keeps a list of all
 * savepoints that have locked a row: each part of a payload has one, not each update. */
static bool handle_part(struct ingest *in, struct store_update *updates, size_t *next, size_t end) {
    static struct statement save = {.sql = "SAVEPOINT part"};
    static struct statement undo = {.sql = "ROLLBACK TO part"};
    static struct statement release = {.sql = "RELEASE part"};
    const struct ingest before = *in;
    size_t again = *next;
    if (!run(in, &save))
        return false;
    tally_save_all(in->store);
    if (handle_some(in, updates, next, end, true))
        return run(in, &release);
    if (!sql_conflicted(in->store))
        return false;
    sql_result(in->store); /* clears the error */
    *in = before;
    tally_restore_all(in->store);
    if (!run(in, &undo) || !run(in, &release) || !handle_some(in, updates, &again, *next, true))
        return false;
    set_owner(in, *next);
    return insert_refused(in, &updates[(*next)++]);
}

/* Payloads with an update that violates a constraint are rare: the first run has no savepoint. */
static bool handle_updates(struct ingest *in, const struct store_payload *payload) {
    const bool is_cautious = sql_repeat_conflict(in->store);
    for (size_t next = 0; next < payload->count;) {
        const size_t left = payload->count - next;
        const size_t end = next + (is_cautious && left > PART ? PART : left);
        if (is_cautious ? !handle_part(in, payload->updates, &next, end)
                        : !handle_some(in, payload->updates, &next, end, false))
            return false;
    }
    return true;
}

static bool handle_all(struct ingest *in, const struct store_payload *payload) {
    struct buffer found = buffer_in(in->lasting);
    if (payload->post)
        forward_read_ahead(in->store, payload->post);
    if (!update_owner_find_all(in, payload->updates, payload->count, &found))
        return false;
    in->run = (const struct update_run *)(void *)found.p;
    update_lock_all(in, payload->updates, in->run, found.n / sizeof *in->run);
    return handle_updates(in, payload);
}

/* The number of webhooks with which one event for each update has not too many deliveries. */
static size_t most_webhooks_for(const struct store_payload *payload) {
    const bool is_limited = payload->most_deliveries && payload->count > 1;
    return is_limited ? payload->most_deliveries / payload->count : SIZE_MAX;
}

static size_t most_webhooks_of(const struct ingest *in) {
    const struct webhook_list *lists = (const struct webhook_list *)(void *)in->webhooks.p;
    size_t most = 0;
    for (size_t i = 0; i < in->webhooks.n / sizeof *lists; i++)
        most = lists[i].count > most ? lists[i].count : most;
    return most;
}

/* Whether the payload is only about who was erased: then it is not forwarded. */
static bool is_all_erased(const struct ingest *in, const struct store_payload *payload) {
    return payload->count && in->erased == payload->count;
}

enum store_result store_ingest(struct store *store, struct arena *arena,
                               struct store_payload *payload) {
    struct arena scratch;
    arena_init(&scratch, arena->cap, arena->exhausted);
    bool has_many = false;
    payload->events = 0;
    while (sql_transact(store)) {
        struct ingest in = {.store = store,
                            .lasting = arena,
                            .arena = &scratch,
                            .webhooks = buffer_in(arena),
                            .now = payload->now,
                            .most_webhooks = most_webhooks_for(payload),
                            .write = payload->write,
                            .archives_media = payload->archives_media};
        arena_reset(&scratch);
        if (!handle_all(&in, payload) || (payload->post && !is_all_erased(&in, payload) &&
                                          !forward_insert(store, &scratch, payload->post,
                                                          &in.webhooks, payload->now, &in.events)))
            sql_abandon(store);
        payload->webhooks = most_webhooks_of(&in);
        has_many = in.has_many;
        if (in.events || !sql_may_have_committed(store))
            payload->events = in.events;
    }
    arena_free(&scratch);
    const enum store_result result = sql_result(store);
    return has_many ? sql_refuse(store, STORE_EXCESSIVE, "the events have too many deliveries")
                    : result;
}
