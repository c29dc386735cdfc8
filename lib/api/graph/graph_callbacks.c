#include "api/graph/graph_callbacks.h"

#include "api/graph/graph_fields.h"
#include "api/graph/graph_local.h"
#include "graph/splice.h"
#include "payload/webhook_rules.h"

#define CONFIGURATION "webhook_configuration"

int graph_list_callbacks(struct request *rq, struct graph_callbacks *callbacks) {
    enum store_result result = store_list_callbacks(
        rq->caller->store, rq->arena, rq->caller->user.id, &callbacks->list, &callbacks->count);
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

static bool is_of(const struct store_webhook *webhook, const char *account_id) {
    return webhook->account_id && strcmp(webhook->account_id, account_id) == 0;
}

/* Whether a person made the webhook for messages. */
static bool is_own(const struct store_webhook *webhook) {
    const struct slice fields = slice_of(webhook->fields ? webhook->fields : "messages");
    return !webhook->account_id && (slice_has_word(fields, ' ', SLICE("messages")) ||
                                    slice_equal(fields, SLICE(WEBHOOK_ALL_FIELDS)));
}

static bool has_line(const struct store_webhook *webhook, const char *phone_number_id) {
    for (size_t i = 0; phone_number_id && i < webhook->line_count; i++)
        if (strcmp(webhook->phone_number_ids[i], phone_number_id) == 0)
            return true;
    return false;
}

const struct store_webhook *graph_account_callback(const struct graph_callbacks *callbacks,
                                                   const char *account_id) {
    for (size_t i = 0; i < callbacks->count; i++)
        if (is_of(&callbacks->list[i], account_id) && callbacks->list[i].all_lines)
            return &callbacks->list[i];
    return NULL;
}

const struct store_webhook *graph_line_callback(const struct graph_callbacks *callbacks,
                                                const char *account_id,
                                                const char *phone_number_id) {
    for (size_t i = 0; i < callbacks->count; i++) {
        const struct store_webhook *webhook = &callbacks->list[i];
        if ((account_id ? is_of(webhook, account_id) : is_own(webhook)) &&
            webhook->line_count == 1 && has_line(webhook, phone_number_id))
            return webhook;
    }
    return NULL;
}

/* The webhook that a person made for several lines, of which this is one: to programs it is that of
 * an application. */
static const struct store_webhook *own_of_many(const struct graph_callbacks *callbacks,
                                               const char *phone_number_id) {
    for (size_t i = 0; i < callbacks->count; i++) {
        const struct store_webhook *webhook = &callbacks->list[i];
        if (is_own(webhook) &&
            (webhook->all_lines || (webhook->line_count > 1 && has_line(webhook, phone_number_id))))
            return webhook;
    }
    return NULL;
}

/* --- answers --- */

struct slice graph_make_subscription(struct request *rq, const struct store_webhook *callback) {
    struct json_writer out;
    json_write_start_object(&out, rq->arena);
    json_write_array(&out, "data");
    json_write_object(&out, NULL);
    json_write_object(&out, "whatsapp_business_api_data");
    graph_write_app(&out, rq);
    json_write_end(&out);
    if (callback)
        json_write_text(&out, "override_callback_uri", callback->url);
    return json_written(&out);
}

/* An answer that is changed. */
struct shown {
    struct request *rq;
    const struct graph_node *node;
    struct graph_callbacks callbacks;
};

static void write_url(struct json_writer *out, const char *name,
                      const struct store_webhook *webhook) {
    if (webhook)
        json_write_text(out, name, webhook->url);
}

/* The callbacks of a number; `id` NULL: of the one that was asked for. */
static struct slice make_configuration(const struct shown *shown, const char *id) {
    const struct graph_callbacks *callbacks = &shown->callbacks;
    const char *account_id = shown->node->accounts->id;
    struct json_writer out;
    if (shown->node->kind == GRAPH_PHONE)
        id = shown->node->id;
    const struct store_webhook *line = graph_line_callback(callbacks, account_id, id);
    json_write_start_object(&out, shown->rq->arena);
    write_url(&out, "application", own_of_many(callbacks, id));
    write_url(&out, "whatsapp_business_account", graph_account_callback(callbacks, account_id));
    write_url(&out, "phone_number", line ? line : graph_line_callback(callbacks, NULL, id));
    return json_written(&out);
}

/* The new value of a member (splice.h). */
static struct slice make_value(void *context, struct json object, const char *name) {
    const struct shown *shown = context;
    if (strcmp(name, CONFIGURATION) != 0)
        return graph_make_subscription(
            shown->rq, graph_account_callback(&shown->callbacks, shown->node->accounts->id));
    return make_configuration(shown, json_text(json_get(object, "id"), shown->rq->arena));
}

struct slice graph_show_callbacks(struct request *rq, const struct graph_node *node,
                                  struct slice answer) {
    static const char *const names[] = {CONFIGURATION, "subscribed_apps", NULL};
    struct shown shown = {.rq = rq, .node = node};
    struct json json;
    struct json_error error;
    const struct member_change change = {
        .names = names,
        .added = graph_asks_for(rq, CONFIGURATION) ? CONFIGURATION : NULL,
        .make = make_value,
        .context = &shown,
    };
    if (json_read(rq->arena, answer, &json, &error) || json_type(json) != JSON_OBJECT ||
        !splice_has_members(json, &change))
        return answer;
    if (graph_list_callbacks(rq, &shown.callbacks))
        return (struct slice){NULL, 0};
    return splice_members(rq->arena, json, &change);
}
