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
