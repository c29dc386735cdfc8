#include "payload/team_json.h"

void team_json_invitation(struct json_writer *out, const struct store_invitation *invitation) {
    json_write_text(out, "id", invitation->id);
    json_write_text(out, "email", invitation->email);
    json_write_text(out, "role", role_name(invitation->role));
    json_write_words(out, "lineIds", invitation->line_ids);
    json_write_bool(out, "ownThreadsOnly", invitation->is_own_only);
    json_write_text(out, "createdBy", invitation->created_by);
    json_write_time(out, "createdAt", invitation->created_at);
    json_write_time(out, "expiresAt", invitation->expires_at);
}

void team_json_token(struct json_writer *out, const struct store_scoped_token *token) {
    json_write_text(out, "id", token->id);
    json_write_text(out, "name", token->name);
    json_write_text(out, "last4", token->last4);
    json_write_words(out, "scopes", token->scopes);
    json_write_words(out, "lineIds", token->line_ids);
    json_write_text(out, "createdBy", token->created_by);
    json_write_time(out, "createdAt", token->created_at);
    json_write_time_or_null(out, "expiresAt", token->expires_at);
    json_write_time_or_null(out, "lastUsedAt", token->last_used_at);
}
