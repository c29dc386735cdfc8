#include "nodes/edges.h"

#include "state/flow_list.h"
#include "state/media_url.h"
#include "state/template_list.h"
#include "text/json_print.h"
#include "wire/graph_error.h"
#include "wire/node_fields.h"
#include "wire/parameters.h"

/* The user of a token is the account. */
static void answer_me(struct exchange *exchange, const struct target *target) {
    static const struct node_shape shape = {.type = "User", .standard = "name,id"};
    struct buffer whole = buffer_in(exchange->arena);
    buffer_add_text(&whole, "{\"name\":");
    json_quote_text(&whole, account_name(target->account));
    buffer_printf(&whole, ",\"id\":\"%s\"}", target->account->waba_id);
    fields_print(exchange, buffer_slice(&whole), &shape, fields_chosen(exchange));
}

/* A number has a webhook configuration and a PIN that can be set. */
static void answer_phone_change(struct exchange *exchange, const struct target *target) {
    const cJSON *configuration = parameter(exchange, "webhook_configuration");
    const char *pin = parameter_text(exchange, "pin");
    if (configuration)
        override_set(exchange, target, configuration);
    else if (pin)
        registration_set_pin(exchange, target, pin);
    else
        reply_error(exchange, 100,
                    "(#100) The parameter webhook_configuration or pin is required.");
}

static void answer_media_delete(struct exchange *exchange, const struct target *target) {
    media_delete(target->id);
    reply_success(exchange);
}

/* clang-format off */
const struct edge graph_edges[] = {
    {"POST", NODE_PHONE, "messages", message_send},
    {"POST", NODE_PHONE, "marketing_messages", marketing_send},
    {"POST", NODE_PHONE, "media", upload_answer},
    {"GET", NODE_PHONE, "", phone_show},
    {"POST", NODE_PHONE, "", answer_phone_change},
    {"GET", NODE_PHONE, "whatsapp_business_profile", profile_show},
    {"POST", NODE_PHONE, "whatsapp_business_profile", profile_change},
    {"POST", NODE_PHONE, "register", registration_register},
    {"POST", NODE_PHONE, "deregister", registration_deregister},
    {"POST", NODE_PHONE, "request_code", registration_request_code},
    {"POST", NODE_PHONE, "verify_code", registration_verify_code},
    {"GET", NODE_PHONE, "settings", phone_settings_show},
    {"POST", NODE_PHONE, "settings", phone_settings_change},
    {"GET", NODE_PHONE, "whatsapp_commerce_settings", commerce_settings_show},
    {"POST", NODE_PHONE, "whatsapp_commerce_settings", commerce_settings_change},
    {"POST", NODE_PHONE, "conversational_automation", automation_change},
    {"GET", NODE_PHONE, "whatsapp_business_encryption", encryption_show},
    {"POST", NODE_PHONE, "whatsapp_business_encryption", encryption_change},
    {"GET", NODE_PHONE, "block_users", blocked_user_list},
    {"POST", NODE_PHONE, "block_users", blocked_user_add},
    {"DELETE", NODE_PHONE, "block_users", blocked_user_remove},
    {"GET", NODE_PHONE, "message_qrdls", qr_code_list},
    {"POST", NODE_PHONE, "message_qrdls", qr_code_put},
    {"GET", NODE_PHONE, "message_qrdls/", qr_code_show},
    {"POST", NODE_PHONE, "message_qrdls/", qr_code_put},
    {"DELETE", NODE_PHONE, "message_qrdls/", qr_code_delete},
    {"GET", NODE_WABA, "", waba_show},
    {"GET", NODE_WABA, "phone_numbers", phone_list},
    {"GET", NODE_WABA, "subscribed_apps", subscription_list},
    {"POST", NODE_WABA, "subscribed_apps", subscription_add},
    {"DELETE", NODE_WABA, "subscribed_apps", subscription_remove},
    {"GET", NODE_WABA, "message_templates", template_list},
    {"POST", NODE_WABA, "message_templates", template_create},
    {"DELETE", NODE_WABA, "message_templates", template_delete},
    {"GET", NODE_WABA, "template_analytics", analytics_show},
    {"GET", NODE_WABA, "flows", flow_list},
    {"POST", NODE_WABA, "flows", flow_create},
    {"GET", NODE_TEMPLATE, "", template_show},
    {"POST", NODE_TEMPLATE, "", template_change},
    {"POST", NODE_TEMPLATE, "unpause", template_unpause},
    {"GET", NODE_FLOW, "", flow_show},
    {"POST", NODE_FLOW, "", flow_change},
    {"DELETE", NODE_FLOW, "", flow_delete},
    {"GET", NODE_FLOW, "assets", flow_assets_show},
    {"POST", NODE_FLOW, "assets", flow_assets_put},
    {"POST", NODE_FLOW, "publish", flow_publish},
    {"POST", NODE_FLOW, "deprecate", flow_deprecate},
    {"GET", NODE_MEDIA, "", media_show},
    {"DELETE", NODE_MEDIA, "", answer_media_delete},
    {"GET", NODE_ME, "", answer_me},
    {"GET", NODE_APP, "", app_show},
    {"POST", NODE_APP, "uploads", session_create},
    {"GET", NODE_APP, "subscriptions", app_subscriptions_refuse},
    {"GET", NODE_OWN_APP, "", app_show},
    {"GET", NODE_OWN_APP, "subscriptions", app_subscriptions},
    {"GET", NODE_UPLOAD, "", session_show},
    {"POST", NODE_UPLOAD, "", session_feed},
    {"GET", NODE_DEBUG_TOKEN, "", token_debug},
    {NULL, NODE_NONE, NULL, NULL},
};
/* clang-format on */
