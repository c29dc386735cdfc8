#include "payload/webhook_json.h"

static void write_lines(struct json_writer *out, const char *name,
                        const struct store_webhook *webhook) {
    if (webhook->all_lines) {
        json_write_null(out, name);
        return;
    }
    json_write_array(out, name);
    for (size_t i = 0; i < webhook->line_count; i++)
        json_write_text(out, NULL, webhook->phone_number_ids[i]);
    json_write_end(out);
}

void webhook_json_write(struct json_writer *out, const struct store_webhook *webhook,
                        const struct slice *code) {
    json_write_text(out, "id", webhook->id);
    json_write_text(out, "name", webhook->name);
    json_write_text(out, "kind", webhook->kind);
    json_write_text(out, "url", webhook->url);
    if (code)
        json_write_string(out, "code", *code);
    json_write_words(out, "eventTypes", webhook->event_types);
    json_write_text(out, "accountId", webhook->account_id);
    write_lines(out, "phoneNumberIds", webhook);
    json_write_words(out, "fields", webhook->fields);
    json_write_words(out, "updates", webhook->updates);
    json_write_bool(out, "splitMessages", webhook->splits_messages);
    json_write_text(out, "state", store_webhook_state(webhook));
    json_write_bool(out, "isFirst", webhook->is_first);
    json_write_time_or_null(out, "pausedAt", webhook->paused_at);
    json_write_time_or_null(out, "failingSince", webhook->failing_since);
    json_write_time_or_null(out, "suspendedAt", webhook->suspended_at);
    json_write_time_or_null(out, "nextProbeAt", webhook->next_probe_at);
    json_write_integer(out, "pendingEvents", webhook->pending);
    json_write_integer(out, "deadEvents", webhook->dead);
    json_write_time(out, "createdAt", webhook->created_at);
    json_write_time(out, "updatedAt", webhook->updated_at);
}

void delivery_json_write(struct json_writer *out, const struct store_event_entry *event) {
    json_write_array(out, "webhooks");
    for (size_t i = 0; i < event->delivery_count; i++) {
        const struct store_event_delivery *delivery = &event->deliveries[i];
        json_write_object(out, NULL);
        json_write_text(out, "webhookId", delivery->webhook_id);
        json_write_text(out, "state", delivery->state);
        json_write_integer(out, "attempts", delivery->attempts);
        json_write_time_or_null(out, "nextAttemptAt", delivery->next_attempt_at);
        json_write_integer_or_null(out, "lastStatus", delivery->last_status);
        json_write_text(out, "lastError", delivery->last_error);
        json_write_time_or_null(out, "finishedAt", delivery->finished_at);
        json_write_end(out);
    }
    json_write_end(out);
}
