#include "api/view/account_view.h"

void account_view_write(struct json_writer *out, const struct store_account *accounts,
                        size_t count) {
    json_write_array(out, "accounts");
    for (size_t i = 0; i < count; i++) {
        json_write_object(out, NULL);
        json_write_text(out, "id", accounts[i].id);
        json_write_text(out, "wabaid", accounts[i].waba_id);
        json_write_text(out, "displayName", accounts[i].name);
        json_write_end(out);
    }
    json_write_end(out);
}

void line_view_members(struct json_writer *out, const struct line *line) {
    json_write_text(out, "id", line->id);
    json_write_text(out, "phoneNumberId", line->phone_number_id);
    json_write_text(out, "phoneNumber", line->phone_number);
    json_write_text(out, "name", line->name);
    json_write_bool(out, "isRegistered", line->is_registered);
    json_write_bool(out, "isCoexisting", line->is_coexisting);
    json_write_text(out, "platformType", line->platform_type);
    json_write_text(out, "accountId", line->account_id);
    json_write_time(out, "createdAt", line->created_at);
}

void line_view_write(struct json_writer *out, const char *name, const struct line *line) {
    json_write_object(out, name);
    line_view_members(out, line);
    json_write_time_or_null(out, "archivedAt", line->archived_at);
    json_write_bool(out, "isPrimary", line->is_primary);
    json_write_end(out);
}
