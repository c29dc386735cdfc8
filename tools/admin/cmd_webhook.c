/* switchboard webhook, without add and change (cmd_webhook_edit.c), and its aliases */
#include "cmd_webhook.h"
#include "command.h"
#include "delivery/wake.h"
#include "nouns.h"
#include "output.h"
#include "payload/event_body.h"
#include "payload/webhook_json.h"
#include "store/event_test.h"
#include "store/event_type.h"

enum { PAGE_ROWS = 100 };

/* --- list and show --- */

/* One list of all users' webhooks. */
struct webhook_list {
    struct invocation *call;
    struct json_writer json;
    struct table table;
};

static const char *email_of(struct invocation *call, const char *user_id) {
    struct store_user_entry *users;
    size_t count;
    if (store_list_users(call->store, &call->arena, &users, &count) != STORE_OK)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(users[i].id, user_id) == 0)
            return users[i].email;
    return NULL;
}

static const char *count_text(struct arena *arena, int64_t count) {
    return arena_printf(arena, "%lld%s", (long long)count, count >= STORE_WEBHOOK_MOST ? "+" : "");
}

static void add_webhook(struct webhook_list *list, const char *email,
                        const struct store_webhook *webhook) {
    struct table *table = &list->table;
    json_write_object(&list->json, NULL);
    json_write_text(&list->json, "email", email);
    webhook_json_write(&list->json, webhook, NULL);
    json_write_end(&list->json);
    table_cell(table, webhook->id);
    table_cell(table, email);
    table_cell(table, webhook->name);
    table_cell(table, webhook->kind);
    table_cell(table, webhook->url);
    table_cell(table, store_webhook_state(webhook));
    table_cell(table, count_text(&list->call->arena, webhook->pending));
    table_cell(table, count_text(&list->call->arena, webhook->dead));
}

/* Adds all webhooks of the user. */
static enum store_result add_user(struct webhook_list *list, const char *user_id,
                                  const char *email) {
    struct invocation *call = list->call;
    struct store_page page = {.limit = PAGE_ROWS};
    size_t count = PAGE_ROWS;
    while (count == PAGE_ROWS) {
        struct store_webhook *webhooks;
        enum store_result result =
            store_list_webhooks(call->store, &call->arena, user_id, &page, &webhooks, &count);
        if (result != STORE_OK)
            return result;
        for (size_t i = 0; i < count; i++)
            add_webhook(list, email, &webhooks[i]);
        if (count)
            page.after = webhooks[count - 1].id;
    }
    return STORE_OK;
}

int webhook_list(struct invocation *call) {
    const char *email = call->operand_count ? call->operands[0] : NULL;
    struct store_user_entry *users;
    size_t count;
    bool is_found = !email;
    enum store_result result = store_list_users(call->store, &call->arena, &users, &count);
    struct webhook_list list = {
        call, list_start(call),
        TABLE(&call->arena, "ID", "USER", "NAME", "KIND", "URL", "STATE", "WAITING", "GIVEN UP")};
    for (size_t i = 0; result == STORE_OK && i < count; i++)
        if (!email || strcmp(users[i].email, email) == 0) {
            is_found = true;
            result = add_user(&list, users[i].id, users[i].email);
        }
    if (result != STORE_OK)
        return fail_store(call, result);
    return is_found ? list_print(call, &list.json, &list.table) : fail_missing(ROW_USER, email);
}

int webhook_find(struct invocation *call, struct store_webhook *webhook) {
    const char *id = call->operands[0];
    enum store_result result = store_find_webhook(call->store, &call->arena, NULL, id, webhook);
    return result == STORE_OK ? EXIT_DONE : fail_row(call, result, ROW_WEBHOOK, id);
}

static const char *lines_text(struct arena *arena, const struct store_webhook *webhook) {
    struct buffer text = buffer_in(arena);
    if (webhook->all_lines)
        return "all";
    for (size_t i = 0; i < webhook->line_count; i++)
        buffer_printf(&text, "%s%s", i ? " " : "", webhook->phone_number_ids[i]);
    return buffer_slice(&text).p;
}

static const char *or_default(const char *words, const char *preset) {
    return words ? words : preset;
}

static void print_webhook(struct invocation *call, const char *email,
                          const struct store_webhook *webhook) {
    struct arena *arena = &call->arena;
    const bool is_forward = strcmp(webhook->kind, WEBHOOK_FORWARD) == 0;
    const char *const lines[][2] = {
        {"id", webhook->id},
        {"user", email},
        {"name", webhook->name},
        {"kind", webhook->kind},
        {"url", webhook->url},
        {is_forward ? "fields" : "types",
         is_forward ? or_default(webhook->fields, "messages (default)")
                    : or_default(webhook->event_types, "all but" EVENT_TYPES_OFF " (default)")},
        {webhook->account_id ? "account" : NULL, webhook->account_id},
        {"lines", lines_text(arena, webhook)},
        {is_forward ? "updates" : NULL, or_default(webhook->updates, "all (default)")},
        {is_forward ? "split" : NULL, webhook->splits_messages ? "yes" : "no"},
        {"state", store_webhook_state(webhook)},
        {"paused", time_text(arena, webhook->paused_at)},
        {"failing since", time_text(arena, webhook->failing_since)},
        {"suspended", time_text(arena, webhook->suspended_at)},
        {"next attempt", time_text(arena, webhook->next_probe_at)},
        {"waiting", count_text(arena, webhook->pending)},
        {"given up", count_text(arena, webhook->dead)},
        {"created", time_text(arena, webhook->created_at)},
        {"changed", time_text(arena, webhook->updated_at)},
    };
    struct table table = table_start(arena, 2, NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!lines[i][0])
            continue;
        table_cell(&table, lines[i][0]);
        table_cell(&table, lines[i][1]);
    }
    table_print(&table);
}

int webhook_show(struct invocation *call) {
    struct store_webhook webhook;
    int status = webhook_find(call, &webhook);
    if (status != EXIT_DONE)
        return status;
    const char *email = email_of(call, webhook.user_id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "email", email);
    webhook_json_write(&json, &webhook, NULL);
    if (call->options[OPTION_JSON])
        return object_print(call, &json, "%s", webhook.id);
    print_webhook(call, email, &webhook);
    return EXIT_DONE;
}

/* --- pause, resume, test, delete --- */

enum store_result webhook_store_change(struct invocation *call,
                                       const struct store_webhook_change *change) {
    enum store_result result = store_change_webhook(call->store, change);
    if (result == STORE_OK && (change->sets_url || change->resumes))
        wake_notify(&call->config);
    return result;
}

static int set_paused(struct invocation *call, bool pauses) {
    struct store_webhook webhook;
    int status = webhook_find(call, &webhook);
    if (status != EXIT_DONE)
        return status;
    struct store_webhook_change change = {.id = webhook.id,
                                          .user_id = webhook.user_id,
                                          .pauses = pauses,
                                          .resumes = !pauses,
                                          .now = call->now};
    enum store_result result = webhook_store_change(call, &change);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_WEBHOOK, webhook.id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", webhook.id);
    json_write_bool(&json, "paused", pauses);
    return object_print(call, &json, "%s %s", pauses ? "paused" : "resumed", webhook.id);
}

int webhook_pause(struct invocation *call) {
    return set_paused(call, true);
}

int webhook_resume(struct invocation *call) {
    return set_paused(call, false);
}

/* Prints the id of the test event, unless the result is a failure that the caller has named. */
static int send_test(struct invocation *call, const char *user_id, const char *webhook_id,
                     const char *unset) {
    char id[ID_SIZE];
    id_make(id, "evt_", call->now);
    enum store_result result = store_insert_test_event(call->store, &call->arena, user_id,
                                                       webhook_id, id, call->now, event_body);
    if (result == STORE_CONFLICT)
        return fail("%s", unset);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_WEBHOOK, webhook_id);
    wake_notify(&call->config);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", id);
    return object_print(call, &json, "%s", id);
}

int webhook_test(struct invocation *call) {
    struct store_webhook webhook;
    int status = webhook_find(call, &webhook);
    if (status != EXIT_DONE)
        return status;
    if (webhook.paused_at != INT64_MAX)
        return fail("webhook %s is paused; `switchboard webhook resume %s` resumes it", webhook.id,
                    webhook.id);
    const char *unset = arena_printf(
        &call->arena,
        "webhook %s has no URL or no code; `switchboard webhook change %s URL` sets both",
        webhook.id, webhook.id);
    return send_test(call, webhook.user_id, webhook.id, unset);
}

int webhook_delete(struct invocation *call) {
    struct store_webhook webhook;
    int status = webhook_find(call, &webhook);
    if (status != EXIT_DONE)
        return status;
    enum store_result result =
        store_delete_webhook(call->store, webhook.user_id, webhook.id, call->now);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_WEBHOOK, webhook.id);
    struct json_writer json = object_start(call);
    json_write_text(&json, "id", webhook.id);
    json_write_bool(&json, "deleted", true);
    return object_print(call, &json, "deleted webhook %s", webhook.id);
}

/* --- switchboard event test, resume, enable, disable: of the first webhook, or of all --- */

/* Finds the user of the email. Returns an exit code, after printing a failure. */
static int find_user(struct invocation *call, const char *email, char user_id[ID_SIZE]) {
    enum store_result result = store_find_user(call->store, email, user_id);
    return result == STORE_OK ? EXIT_DONE : fail_row(call, result, ROW_USER, email);
}

int event_test(struct invocation *call) {
    const char *email = call->operands[0];
    char user_id[ID_SIZE];
    int status = find_user(call, email, user_id);
    if (status != EXIT_DONE)
        return status;
    return send_test(
        call, user_id, NULL,
        arena_printf(&call->arena, "%s has no webhook; POST /v2/webhooks/config sets one", email));
}

int event_resume(struct invocation *call) {
    struct store_suspended *webhooks;
    size_t count;
    struct buffer names = buffer_in(&call->arena);
    struct json_writer json = object_start(call);
    enum store_result result = store_list_suspended(call->store, &call->arena, &webhooks, &count);
    json_write_array(&json, "resumed");
    for (size_t i = 0; result == STORE_OK && i < count; i++) {
        const struct store_webhook_change change = {.id = webhooks[i].id,
                                                    .user_id = webhooks[i].user_id,
                                                    .ends_suspension = true,
                                                    .now = call->now};
        result = store_change_webhook(call->store, &change);
        if (result == STORE_NOT_FOUND)
            result = STORE_OK; /* it was deleted meanwhile */
        if (i && strcmp(webhooks[i].user_id, webhooks[i - 1].user_id) == 0)
            continue;
        json_write_text(&json, NULL, webhooks[i].email);
        buffer_printf(&names, " %s", webhooks[i].email);
    }
    wake_notify(&call->config);
    if (result != STORE_OK)
        return fail_store(call, result);
    json_write_end(&json);
    return object_print(call, &json, "resumed:%s", count ? names.p : " nothing was suspended");
}

static int switch_type(struct invocation *call, bool enabled) {
    const char *type = call->operands[0], *email = call->operands[1];
    char user_id[ID_SIZE];
    int status = find_user(call, email, user_id);
    if (status != EXIT_DONE)
        return status;
    const struct store_webhook_change change = {
        .user_id = user_id, .switched_type = type, .switches_off = !enabled, .now = call->now};
    enum store_result result = webhook_store_change(call, &change);
    if (result != STORE_OK)
        return fail_store(call, result);
    struct json_writer json = object_start(call);
    json_write_text(&json, "email", email);
    json_write_text(&json, "type", type);
    json_write_bool(&json, "enabled", enabled);
    return object_print(call, &json, "%s of %s: %s", type, email, enabled ? "on" : "off");
}

int event_enable(struct invocation *call) {
    return switch_type(call, true);
}

int event_disable(struct invocation *call) {
    return switch_type(call, false);
}
