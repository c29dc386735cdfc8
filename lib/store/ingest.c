/* Storing the updates of webhook payloads. */
#include "store/ingest.h"

#include "store/forward_entry.h"
#include "store/update_lock.h"

const char *ingest_id(struct ingest *in, const char *prefix) {
    char *id = arena_alloc(in->arena, ID_SIZE);
    id_make(id, prefix, in->now);
    return id;
}

bool ingest_count(struct ingest *in, enum usage_measure measure) {
    struct usage_line *line =
        usage_of_line(in->store, &in->usage, in->owner.user_id, in->owner.line_id);
    if (line && measure < USAGE_MEASURES)
        line->counts[measure]++;
    return line != NULL;
}

static update_handler *const handlers[] = {
    [UPDATE_MESSAGE] = ingest_message,   [UPDATE_ECHO] = ingest_message,
    [UPDATE_HISTORY] = ingest_message,   [UPDATE_STATUS] = ingest_status,
    [UPDATE_IDENTITY] = ingest_identity, [UPDATE_LEAD] = ingest_lead,
    [UPDATE_TEMPLATE] = ingest_template, [UPDATE_FLOW] = ingest_flow,
    [UPDATE_OTHER] = ingest_other,
};

/* The usage of the update's line. Its line may have none yet, and an update may have no line. */
static bool copy_usage(struct ingest *in, struct usage_line *copy) {
    const struct usage_line *line =
        in->owner.line_id
            ? usage_of_line(in->store, &in->usage, in->owner.user_id, in->owner.line_id)
            : NULL;
    if (line)
        *copy = *line;
    return line || !in->owner.line_id;
}

/* Restores the usage of the update's line, whose update is undone. */
static void restore_usage(struct ingest *in, const struct usage_line *copy) {
    if (in->owner.line_id)
        *usage_of_line(in->store, &in->usage, in->owner.user_id, in->owner.line_id) = *copy;
}

/* Handles one update within a savepoint: an update that violates a constraint is stored as it is,
 * and the other updates of the payload are kept. */
static bool handle(struct ingest *in, struct store_update *update) {
    static struct statement save = {.sql = "SAVEPOINT one_update"};
    static struct statement undo = {.sql = "ROLLBACK TO one_update"};
    static struct statement release = {.sql = "RELEASE one_update"};
    if (!in->owner.user_id || in->owner.is_foreign) {
        update->outcome = OUTCOME_NO_OWNER;
        return !in->owner.is_foreign ||
               foreign_waba_count(in->store, &in->foreign, in->owner.line_id, update->waba_id);
    }
    const enum store_outcome earlier = update->outcome;
    const size_t events = in->events, webhooks = in->webhooks.n;
    const struct user_numbers numbers = in->numbers;
    struct usage_line usage;
    if (!copy_usage(in, &usage))
        return false;
    sql_start_with(in->store, &save, NULL, 0);
    if (sql_row(in->store, &save) || sql_failed(in->store))
        return false;
    if (!handlers[update->kind](in, update)) {
        if (!sql_conflicted(in->store))
            return false;
        sql_result(in->store); /* clears the error */
        in->events = events;
        in->numbers = numbers;
        in->webhooks.n = webhooks; /* the lock under which they were read is undone too */
        restore_usage(in, &usage);
        sql_start_with(in->store, &undo, NULL, 0);
        if (sql_row(in->store, &undo) || !ingest_insert_raw(in, update, OUTCOME_REFUSED))
            return false;
    }
    if (update->outcome == OUTCOME_DUPLICATE && sql_may_have_committed(in->store))
        update->outcome = earlier; /* it is stored since an earlier run */
    sql_start_with(in->store, &release, NULL, 0);
    return !sql_row(in->store, &release) && !sql_failed(in->store);
}

static bool handle_all(struct ingest *in, const struct store_payload *payload) {
    struct store_update *updates = payload->updates;
    struct buffer found = buffer_in(in->lasting);
    if (!update_owner_find_all(in, updates, payload->count, &found))
        return false;
    const struct update_run *runs = (const struct update_run *)(void *)found.p;
    update_lock_all(in, updates, runs, found.n / sizeof *runs);
    for (size_t i = 0; i < payload->count; i++) {
        if (i == runs->end)
            runs++;
        in->owner = runs->owner;
        if (!handle(in, &updates[i]) || !sql_is_within_limit(in->store))
            return false;
        arena_reset(in->arena);
    }
    return foreign_waba_write(in->store, &in->foreign) && usage_write(in->store, &in->usage);
}

enum store_result store_ingest(struct store *store, struct arena *arena,
                               struct store_payload *payload) {
    struct arena scratch;
    arena_init(&scratch, arena->cap, arena->exhausted);
    payload->events = 0;
    while (sql_transact(store)) {
        struct ingest in = {.store = store,
                            .lasting = arena,
                            .arena = &scratch,
                            .webhooks = buffer_in(arena),
                            .now = payload->now,
                            .write = payload->write,
                            .usage = {.now = payload->now},
                            .foreign = {.now = payload->now}};
        arena_reset(&scratch);
        user_number_collect(store, &in.numbers);
        if (!handle_all(&in, payload) ||
            (payload->post && !forward_insert(store, &scratch, payload->post, &in.webhooks,
                                              payload->now, &in.events)))
            sql_abandon(store);
        user_number_write(store);
        if (in.events || !sql_may_have_committed(store))
            payload->events = in.events;
    }
    arena_free(&scratch);
    return sql_result(store);
}
