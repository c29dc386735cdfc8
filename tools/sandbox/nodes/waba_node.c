#include "nodes/edges.h"

#include "text/json_print.h"

static const struct node_shape subscription_shape = {.type = "WhatsAppApplication",
                                                     .without_id = true};

static const struct node_member waba_members[] = {
    {"phone_numbers", &phone_shape}, {"subscribed_apps", &subscription_shape}, {NULL, NULL}};

static const struct node_shape waba_shape = {
    .type = "WhatsAppBusinessAccount",
    .standard = "id,name,timezone_id,message_template_namespace",
    .known = "primary_funding_id,purchase_order_number,auth_international_rate_eligibility,"
             "primary_business_location",
    .members = waba_members,
};

/* What is the same for all accounts. */
static const char constant_members[] =
    ",\"timezone_id\":\"1\",\"currency\":\"USD\",\"country\":\"US\",\"status\":\"ACTIVE\","
    "\"account_review_status\":\"APPROVED\",\"business_verification_status\":\"verified\","
    "\"ownership_type\":\"SELF\",\"creation_time\":1767225600,\"is_enabled_for_insights\":true,"
    "\"marketing_messages_lite_api_status\":\"INELIGIBLE\"";

static void print_business(struct buffer *out, const char *name, const struct account *account) {
    buffer_printf(out, ",\"%s\":{\"name\":", name);
    json_quote_text(out, account_name(account));
    buffer_printf(out, ",\"id\":\"5%s\"}", account->waba_id);
}

/* Appends the account with all its fields. */
static void print_account(struct buffer *out, const struct account *account) {
    buffer_printf(out, "{\"id\":\"%s\",\"name\":", account->waba_id);
    json_quote_text(out, account_name(account));
    buffer_add_text(out, constant_members);
    buffer_printf(out, ",\"message_template_namespace\":\"ns_%s\"", account->waba_id);
    print_business(out, "owner_business_info", account);
    print_business(out, "on_behalf_of_business_info", account);
    buffer_printf(out,
                  ",\"health_status\":{\"can_send_message\":\"AVAILABLE\",\"entities\":["
                  "{\"entity_type\":\"WABA\",\"id\":\"%s\",\"can_send_message\":\"AVAILABLE\"}]}",
                  account->waba_id);
    buffer_add_text(out, ",\"phone_numbers\":");
    phone_print_all(out, account);
    buffer_add_text(out, ",\"subscribed_apps\":");
    subscription_print(out, account->waba_id);
    buffer_add_char(out, '}');
}

void waba_show(struct exchange *exchange, const struct target *target) {
    struct buffer whole = buffer_in(exchange->arena);
    print_account(&whole, target->account);
    fields_print(exchange, buffer_slice(&whole), &waba_shape, fields_chosen(exchange));
}
