#include "api/view/event_view.h"

#include "payload/person_json.h"
#include "payload/webhook_json.h"

/* The state of the table: the webhook's suspension is shown by GET /v2/overview. */
static const char *state_of(const struct store_event_entry *event) {
    return strcmp(event->state, "suspended") == 0 ? "pending" : event->state;
}

void event_view_write(struct json_writer *out, const struct store_event_entry *event) {
    json_write_text(out, "id", event->id);
    json_write_integer(out, "sequence", event->sequence);
    json_write_text(out, "type", event->type);
    json_write_text(out, "state", state_of(event));
    json_write_integer(out, "attempts", event->attempts);
    json_write_integer_or_null(out, "lastStatus", event->last_status);
    json_write_text(out, "lastError", event->last_error);
    json_write_time(out, "createdAt", event->created_at);
    json_write_time_or_null(out, "nextAttemptAt", event->next_attempt_at);
    json_write_time_or_null(out, "finishedAt", event->finished_at);
    json_write_text(out, "messageId", event->wamid);
    contact_json_write(out, &event->contact);
    delivery_json_write(out, event);
}

/* The headers by which a receiver finds the delivery in its log; see lib/delivery/attempt.c. The
 * signatures are left out: they prove knowledge of the code. */
static void write_headers(struct request *rq, struct json_writer *out, const char *event_id,
                          int64_t started_at) {
    json_write_object(out, "headers");
    json_write_text(out, "webhook-id", event_id);
    json_write_text(out, "webhook-timestamp",
                    arena_printf(rq->arena, "%lld", (long long)(started_at / 1000)));
    json_write_end(out);
}

static void write_delivery(struct request *rq, struct json_writer *out, const char *event_id,
                           const struct store_event_attempt *attempt) {
    json_write_object(out, NULL);
    json_write_text(out, "webhookId", attempt->webhook_id);
    json_write_integer(out, "attempt", attempt->attempt);
    json_write_time(out, "startedAt", attempt->started_at);
    json_write_integer(out, "durationMs", attempt->duration_ms);
    json_write_integer_or_null(out, "status", attempt->status);
    json_write_text(out, "error", attempt->error);
    json_write_text(out, "address", attempt->address);
    json_write_string(out, "responseHead", attempt->response_head);
    write_headers(rq, out, event_id, attempt->started_at);
    json_write_end(out);
}

int event_view_reply(struct request *rq, const struct store_event_entry *event) {
    struct json_writer data;
    reply_start(rq, &data);
    event_view_write(&data, event);
    json_write_raw(&data, "body", event->body);
    json_write_array(&data, "deliveries");
    for (size_t i = 0; i < event->log_count; i++)
        write_delivery(rq, &data, event->id, &event->log[i]);
    return reply_object(rq, &data);
}
