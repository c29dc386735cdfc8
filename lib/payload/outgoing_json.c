#include "payload/outgoing_json.h"

#include <string.h>

static void write_members(struct json_writer *out, const struct store_outgoing *row) {
    json_write_text(out, "id", row->id);
    json_write_text(out, "state", row->state);
    json_write_text(out, "reason", row->reason);
    json_write_raw(out, "error", row->error);
    json_write_text(out, "phoneNumberId", row->phone_number_id);
    json_write_text(out, "recipient", row->recipient);
    json_write_text(out, "messageId", row->wamid);
    json_write_integer(out, "attempts", row->attempts);
    json_write_time(out, "createdAt", row->created_at);
    json_write_time(out, "sendAt", row->send_at);
    json_write_time_or_null(out, "nextAttemptAt",
                            strcmp(row->state, "queued") == 0 ? row->next_at : INT64_MAX);
    json_write_time(out, "expiresAt", row->expires_at);
    json_write_time_or_null(out, "finishedAt", row->finished_at);
    json_write_text(out, "retryOf", row->retry_of);
    json_write_text(out, "retriedAs", row->retried_as);
    json_write_text(out, "campaignId", row->campaign_id);
}

void outgoing_json_write(struct json_writer *out, const struct store_outgoing *row) {
    json_write_object(out, NULL);
    write_members(out, row);
    if (row->body.p)
        json_write_raw(out, "message", row->body);
    json_write_end(out);
}

void outgoing_json_write_queued(struct json_writer *out, const char *name,
                                const struct store_outgoing *row) {
    json_write_object(out, name);
    write_members(out, row);
    json_write_end(out);
}
