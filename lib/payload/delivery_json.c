#include "payload/delivery_json.h"

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
