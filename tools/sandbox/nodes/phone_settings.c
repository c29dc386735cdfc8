#include "nodes/edges.h"

#include "state/node_state.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "wire/graph_error.h"
#include "wire/node_fields.h"
#include "wire/parameters.h"

static const char settings_initial[] =
    "{\"calling\":{\"status\":\"DISABLED\",\"call_icon_visibility\":\"DEFAULT\","
    "\"callback_permission_status\":\"DISABLED\"},"
    "\"storage_configuration\":{\"status\":\"DEFAULT\"}}";

static const char commerce_initial[] = "{\"is_cart_enabled\":true,\"is_catalog_visible\":false}";

/* The groups of settings that can be changed. */
static const char *const groups[] = {"calling", "storage_configuration", "user_identity_change",
                                     "payload_encryption"};

void phone_settings_show(struct exchange *exchange, const struct target *target) {
    static const struct node_shape shape = {
        .type = "WhatsAppBusinessPhoneNumberSettings",
        .known = "calling,storage_configuration,user_identity_change,payload_encryption",
        .without_id = true,
    };
    struct buffer whole = buffer_in(exchange->arena);
    cJSON *kept = node_state_read("settings", target->id, settings_initial);
    json_print(&whole, kept);
    cJSON_Delete(kept);
    fields_print(exchange, buffer_slice(&whole), &shape, fields_chosen(exchange));
}

/* Merges the groups of the request into `kept`. Returns their number, or -1 after an error. */
static int merge_groups(struct exchange *exchange, cJSON *kept) {
    cJSON *changes = cJSON_CreateObject();
    int count = 0;
    for (size_t i = 0; count >= 0 && i < sizeof groups / sizeof *groups; i++) {
        const cJSON *change = parameter(exchange, groups[i]);
        if (!change)
            continue;
        cJSON_AddItemToObject(changes, groups[i], cJSON_Duplicate(change, true));
        count++;
        if (!cJSON_IsObject(change)) {
            reply_error(exchange, 100, "(#100) Param %s must be a JSON object.", groups[i]);
            count = -1;
        }
    }
    if (count > 0)
        json_merge(kept, changes);
    cJSON_Delete(changes);
    return count;
}

void phone_settings_change(struct exchange *exchange, const struct target *target) {
    cJSON *kept = node_state_read("settings", target->id, settings_initial);
    int count = merge_groups(exchange, kept);
    if (count == 0)
        reply_error(exchange, 100, "(#100) The request has no settings to change.");
    else if (count > 0 && !node_state_write("settings", target->id, kept))
        reply_error(exchange, 100, "(#100) The settings are too long.");
    else if (count > 0)
        reply_success(exchange);
    cJSON_Delete(kept);
}

void commerce_settings_show(struct exchange *exchange, const struct target *target) {
    struct buffer *out = &exchange->reply.body;
    cJSON *kept = node_state_read("commerce", target->id, commerce_initial);
    buffer_add_text(out, "{\"data\":[");
    json_print(out, kept);
    out->n--; /* the brace that closes the object */
    buffer_printf(out, ",\"id\":\"6%s\"}]}", target->id);
    cJSON_Delete(kept);
}

void commerce_settings_change(struct exchange *exchange, const struct target *target) {
    cJSON *kept = node_state_read("commerce", target->id, commerce_initial);
    bool cart = cJSON_IsTrue(json_get(kept, "is_cart_enabled"));
    bool catalog = cJSON_IsTrue(json_get(kept, "is_catalog_visible"));
    if (parameter_flag(exchange, "is_cart_enabled", &cart) &&
        parameter_flag(exchange, "is_catalog_visible", &catalog)) {
        json_set(kept, "is_cart_enabled", cJSON_CreateBool(cart));
        json_set(kept, "is_catalog_visible", cJSON_CreateBool(catalog));
        node_state_write("commerce", target->id, kept);
        reply_success(exchange);
    }
    cJSON_Delete(kept);
}
