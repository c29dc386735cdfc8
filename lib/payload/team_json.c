#include "payload/team_json.h"

#include "payload/lines_json.h"

void team_json_invitation(struct json_writer *out, const struct store_invitation *invitation) {
    json_write_text(out, "id", invitation->id);
    json_write_text(out, "email", invitation->email);
    json_write_text(out, "role", role_name(invitation->role));
    lines_json_write(out, "lineIds", invitation->line_ids);
    json_write_bool(out, "ownThreadsOnly", invitation->is_own_only);
    json_write_text(out, "createdBy", invitation->created_by);
    json_write_time(out, "createdAt", invitation->created_at);
    json_write_time(out, "expiresAt", invitation->expires_at);
}

void team_json_token(struct json_writer *out, const struct store_scoped_token *token) {
    json_write_text(out, "id", token->id);
    json_write_text(out, "name", token->name);
    json_write_text(out, "last4", token->last4);
    words_json_write(out, "scopes", slice_of(token->scopes));
    lines_json_write(out, "lineIds", token->line_ids);
    json_write_text(out, "createdBy", token->created_by);
    json_write_time(out, "createdAt", token->created_at);
    json_write_time_or_null(out, "expiresAt", token->expires_at);
    json_write_time_or_null(out, "lastUsedAt", token->last_used_at);
}

void team_json_trail_row(struct json_writer *out, const struct store_trail_row *row) {
    json_write_text(out, "id", row->id);
    json_write_time(out, "at", row->at);
    json_write_object(out, "actor");
    json_write_text(out, "id", row->actor);
    json_write_text(out, "name", row->actor_name);
    json_write_end(out);
    json_write_text(out, "action", row->action);
    json_write_text(out, "objectId", row->object_id);
    json_write_raw(out, "details", slice_of(row->details));
    json_write_text(out, "address", row->address);
    json_write_text(out, "requestId", row->request_id);
}
