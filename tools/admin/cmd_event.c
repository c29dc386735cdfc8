/* switchboard event, without the aliases of commands about webhooks (cmd_webhook.c) */
#include <stdio.h>

#include "base/clock.h"
#include "command.h"
#include "delivery/wake.h"
#include "nouns.h"
#include "output.h"
#include "payload/webhook_json.h"
#include "store/event_log.h"
#include "store/event_replay.h"
#include "store/listing.h"

/* --- list and show --- */

/* Writes the event's members into the open object. */
static void write_event(struct json_writer *json, const struct store_event_entry *event) {
    json_write_text(json, "id", event->id);
    json_write_text(json, "email", event->email);
    json_write_text(json, "type", event->type);
    json_write_integer(json, "sequence", event->sequence);
    json_write_text(json, "state", event->state);
    json_write_integer(json, "attempts", event->attempts);
    json_write_time_or_null(json, "nextAttemptAt", event->next_attempt_at);
    json_write_integer_or_null(json, "lastStatus", event->last_status);
    json_write_text(json, "lastError", event->last_error);
    json_write_time(json, "createdAt", event->created_at);
    json_write_time_or_null(json, "finishedAt", event->finished_at);
}

static const char *status_text(struct arena *arena, int status) {
    return status ? arena_printf(arena, "%d", status) : NULL;
}

static void print_events(struct list *list, const struct store_event_entry *events, size_t count) {
    struct table *table = &list->table;
    struct arena *arena = &list->arena;
    for (size_t i = 0; i < count; i++) {
        const struct store_event_entry *event = &events[i];
        json_write_object(&list->json, NULL);
        write_event(&list->json, event);
        json_write_end(&list->json);
        table_cell(table, event->id);
        table_cell(table, event->email);
        table_cell(table, event->type);
        table_cell(table, time_text(arena, event->created_at));
        table_cell(table, event->state);
        table_cell(table, arena_printf(arena, "%d", event->attempts));
        table_cell(table, time_text(arena, event->next_attempt_at));
        table_cell(table, status_text(arena, event->last_status));
        table_cell(table, event->last_error);
    }
    list_print_page(list, count, count ? events[count - 1].id : NULL);
}

int event_list(struct invocation *call) {
    struct list list;
    LIST_OPEN(&list, call, "ID", "USER", "TYPE", "CREATED", "STATE", "ATTEMPTS", "NEXT", "STATUS",
              "ERROR");
    while (list_next(&list)) {
        struct store_event_entry *events;
        size_t count;
        enum store_result result =
            store_list_events(call->store, &list.arena, call->options[OPTION_FAILED] != NULL,
                              &list.page, &events, &count);
        if (result != STORE_OK) {
            list_abandon(&list);
            return fail_store(call, result);
        }
        print_events(&list, events, count);
    }
    return list_close(&list);
}

static void write_log(struct json_writer *json, const struct store_event_entry *event) {
    json_write_array(json, "attemptLog");
    for (size_t i = 0; i < event->log_count; i++) {
        const struct store_event_attempt *attempt = &event->log[i];
        json_write_object(json, NULL);
        json_write_text(json, "webhookId", attempt->webhook_id);
        json_write_integer(json, "attempt", attempt->attempt);
        json_write_time(json, "startedAt", attempt->started_at);
        json_write_integer(json, "durationMs", attempt->duration_ms);
        json_write_integer_or_null(json, "status", attempt->status);
        json_write_text(json, "error", attempt->error);
        json_write_text(json, "address", attempt->address);
        json_write_string(json, "response", attempt->response_head);
        json_write_end(json);
    }
    json_write_end(json);
}

static void print_event(struct arena *arena, const struct store_event_entry *event) {
    const char *const lines[][2] = {
        {"id", event->id},
        {"user", event->email},
        {"type", event->type},
        {"state", event->state},
        {"created", time_text(arena, event->created_at)},
        {"next attempt", time_text(arena, event->next_attempt_at)},
        {"finished", time_text(arena, event->finished_at)},
        {"last error", event->last_error},
        {"body", arena_copy(arena, event->body)},
    };
    struct table table = table_start(arena, 2, NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        table_cell(&table, lines[i][0]);
        table_cell(&table, lines[i][1]);
    }
    table_print(&table);
}

static void print_deliveries(struct arena *arena, const struct store_event_entry *event) {
    struct table table =
        TABLE(arena, "WEBHOOK", "STATE", "ATTEMPTS", "NEXT", "STATUS", "ERROR", "FINISHED");
    for (size_t i = 0; i < event->delivery_count; i++) {
        const struct store_event_delivery *delivery = &event->deliveries[i];
        table_cell(&table, delivery->webhook_id);
        table_cell(&table, delivery->state);
        table_cell(&table, arena_printf(arena, "%d", delivery->attempts));
        table_cell(&table, time_text(arena, delivery->next_attempt_at));
        table_cell(&table, status_text(arena, delivery->last_status));
        table_cell(&table, delivery->last_error);
        table_cell(&table, time_text(arena, delivery->finished_at));
    }
    putchar('\n');
    table_print(&table);
}

static void print_log(struct arena *arena, const struct store_event_entry *event) {
    struct table table =
        TABLE(arena, "WEBHOOK", "ATTEMPT", "STARTED", "MS", "ADDRESS", "STATUS", "ERROR", "ANSWER");
    for (size_t i = 0; i < event->log_count; i++) {
        const struct store_event_attempt *attempt = &event->log[i];
        table_cell(&table, attempt->webhook_id);
        table_cell(&table, arena_printf(arena, "%d", attempt->attempt));
        table_cell(&table, time_text(arena, attempt->started_at));
        table_cell(&table, arena_printf(arena, "%lld", (long long)attempt->duration_ms));
        table_cell(&table, attempt->address);
        table_cell(&table, status_text(arena, attempt->status));
        table_cell(&table, attempt->error);
        table_cell(&table,
                   attempt->response_head.n ? arena_copy(arena, attempt->response_head) : NULL);
    }
    putchar('\n');
    table_print(&table);
}

int event_show(struct invocation *call) {
    struct store_event_entry event;
    enum store_result result =
        store_find_event(call->store, &call->arena, NULL, call->operands[0], &event);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_EVENT, call->operands[0]);
    struct json_writer json = object_start(call);
    write_event(&json, &event);
    json_write_raw(&json, "body", event.body);
    delivery_json_write(&json, &event);
    write_log(&json, &event);
    if (call->options[OPTION_JSON])
        return object_print(call, &json, "%s", event.id);
    print_event(&call->arena, &event);
    if (event.delivery_count)
        print_deliveries(&call->arena, &event);
    if (event.log_count)
        print_log(&call->arena, &event);
    return EXIT_DONE;
}

/* --- replay --- */

static int print_replayed(struct invocation *call, size_t count) {
    wake_notify(&call->config);
    struct json_writer json = object_start(call);
    json_write_integer(&json, "replayed", (int64_t)count);
    return object_print(call, &json, "%zu event%s to be delivered again", count,
                        count == 1 ? "" : "s");
}

static int replay_one(struct invocation *call, const char *id) {
    enum store_result result = store_replay_event(call->store, NULL, id, call->now);
    if (result == STORE_CONFLICT)
        return fail("the user of event %s has no webhook that it could be delivered to", id);
    return result == STORE_OK ? print_replayed(call, 1) : fail_row(call, result, ROW_EVENT, id);
}

static int replay_range(struct invocation *call) {
    int64_t since, until = INT64_MAX;
    size_t count;
    clock_parse(call->options[OPTION_SINCE], &since);
    if (call->options[OPTION_UNTIL])
        clock_parse(call->options[OPTION_UNTIL], &until);
    if (until <= since)
        return fail("--until must be later than --since");
    enum store_result result = store_replay_events(call->store, since, until, call->now, &count);
    if (result == STORE_OK)
        return print_replayed(call, count);
    if (count)
        warn("%zu events are to be delivered again; the rest is unchanged", count);
    return fail_store(call, result);
}

int event_replay(struct invocation *call) {
    bool has_id = call->operand_count == 1, has_since = call->options[OPTION_SINCE] != NULL;
    if (has_id == has_since || (has_id && call->options[OPTION_UNTIL]))
        return fail_usage(call, "give either the ID of one event, or --since and optionally "
                                "--until");
    return has_id ? replay_one(call, call->operands[0]) : replay_range(call);
}
