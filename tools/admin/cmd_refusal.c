/* switchboard refusal: payloads of the platform that were too large for one request. */
#include <stdio.h>

#include "base/json.h"
#include "command.h"
#include "delivery/wake.h"
#include "nouns.h"
#include "output.h"
#include "payload/event_body.h"
#include "payload/forward_body.h"
#include "payload/updates.h"
#include "store/refusal.h"

enum { UPDATES_AT_ONCE = 1000 }; /* in one transaction, for which other writers wait */

/* Writes the refusal's members into the open object. */
static void write_refusal(struct json_writer *json, const struct store_refusal *refusal) {
    json_write_text(json, "id", refusal->id);
    json_write_text(json, "reason", refusal->reason);
    json_write_integer(json, "size", refusal->size);
    if (refusal->updates < 0)
        json_write_null(json, "updates");
    else
        json_write_integer(json, "updates", refusal->updates);
    json_write_integer(json, "count", refusal->count);
    json_write_time(json, "firstAt", refusal->first_at);
    json_write_time(json, "lastAt", refusal->last_at);
}

static const char *number_text(struct arena *arena, int64_t number) {
    return number < 0 ? NULL : arena_printf(arena, "%lld", (long long)number);
}

int refusal_list(struct invocation *call) {
    struct arena *arena = &call->arena;
    struct store_refusal *refusals;
    size_t count;
    enum store_result result = store_list_refusals(call->store, arena, &refusals, &count);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = list_start(call);
    struct table table = TABLE(arena, "ID", "FIRST", "LAST", "CAME", "BYTES", "UPDATES", "REASON");
    for (size_t i = 0; i < count; i++) {
        json_write_object(&json, NULL);
        write_refusal(&json, &refusals[i]);
        json_write_end(&json);
        table_cell(&table, refusals[i].id);
        table_cell(&table, time_text(arena, refusals[i].first_at));
        table_cell(&table, time_text(arena, refusals[i].last_at));
        table_cell(&table, number_text(arena, refusals[i].count));
        table_cell(&table, number_text(arena, refusals[i].size));
        table_cell(&table, number_text(arena, refusals[i].updates));
        table_cell(&table, refusals[i].reason);
    }
    return list_print(call, &json, &table);
}

/* Finds the refusal of the command's operand. Returns EXIT_DONE, or fails. */
static int find(struct invocation *call, struct store_refusal *refusal) {
    const char *id = call->operands[0];
    enum store_result result = store_find_refusal(call->store, &call->arena, id, refusal);
    return result == STORE_OK ? EXIT_DONE : fail_row(call, result, ROW_REFUSAL, id);
}

int refusal_show(struct invocation *call) {
    struct store_refusal refusal;
    int status = find(call, &refusal);
    if (status != EXIT_DONE)
        return status;
    if (!call->options[OPTION_JSON]) {
        fwrite(refusal.body.p, 1, refusal.body.n, stdout);
        return EXIT_DONE;
    }
    struct json_writer json = object_start(call);
    write_refusal(&json, &refusal);
    json_write_string(&json, "body", refusal.body);
    return object_print(call, &json, "%s", refusal.id);
}

/* Stores the updates, UPDATES_AT_ONCE in a transaction; the first one forwards the payload. Returns
 * EXIT_DONE, or fails. */
static int ingest(struct invocation *call, struct store_update *updates, size_t count,
                  const struct store_post *post) {
    size_t all_events = 0, from = 0;
    do {
        struct store_payload part = {
            .updates = updates + from,
            .count = count - from < UPDATES_AT_ONCE ? count - from : UPDATES_AT_ONCE,
            .now = call->now,
            .write = event_body,
            .post = from ? NULL : post,
            .archives_media = *call->config.media_archive != 0,
        };
        enum store_result result = store_ingest(call->store, &call->arena, &part);
        if (result != STORE_OK)
            return fail_store(call, result);
        all_events += part.events;
        from += UPDATES_AT_ONCE;
    } while (from < count);
    if (all_events)
        wake_notify(&call->config);
    return EXIT_DONE;
}

static int remove_refusal(struct invocation *call, const char *id) {
    enum store_result result = store_delete_refusal(call->store, id);
    return result == STORE_OK || result == STORE_NOT_FOUND ? EXIT_DONE : fail_store(call, result);
}

int refusal_retry(struct invocation *call) {
    struct store_refusal refusal;
    struct json payload;
    struct json_error error;
    struct store_update *updates;
    int status = find(call, &refusal);
    if (status != EXIT_DONE)
        return status;
    if (json_read(&call->arena, refusal.body, &payload, &error) != 0)
        return fail("the payload cannot be read: %s, at line %zu, column %zu; `switchboard refusal "
                    "show` prints it",
                    error.reason, error.line, error.column);
    size_t count = updates_read(&call->arena, payload, call->now, SIZE_MAX, &updates);
    struct forward_post raw = {refusal.body, payload};
    const struct store_post post = forward_body_post(&raw, &call->arena);
    if ((status = ingest(call, updates, count, &post)) != EXIT_DONE ||
        (status = remove_refusal(call, refusal.id)) != EXIT_DONE)
        return status;
    size_t outcomes[OUTCOME_REFUSED + 1] = {0};
    for (size_t i = 0; i < count; i++)
        outcomes[updates[i].outcome]++;
    struct json_writer json = object_start(call);
    json_write_integer(&json, "updates", (int64_t)count);
    json_write_integer(&json, "duplicates", (int64_t)outcomes[OUTCOME_DUPLICATE]);
    json_write_integer(&json, "skipped", (int64_t)outcomes[OUTCOME_NO_OWNER]);
    return object_print(call, &json, "%zu updates processed: %zu known already, %zu skipped", count,
                        outcomes[OUTCOME_DUPLICATE], outcomes[OUTCOME_NO_OWNER]);
}

int refusal_drop(struct invocation *call) {
    struct store_refusal refusal;
    int status = find(call, &refusal);
    if (status == EXIT_DONE)
        status = remove_refusal(call, refusal.id);
    if (status != EXIT_DONE)
        return status;
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", refusal.id);
    return object_print(call, &json, "%s is removed", refusal.id);
}
