#include "nodes/edges.h"

#include "state/node_answer.h"
#include "text/json_print.h"
#include "text/strict_json.h"

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
    "\"marketing_messages_lite_api_status\":\"ONBOARDED\"";

static void print_business(struct buffer *out, const char *name, const struct account *account) {
    buffer_printf(out, ",\"%s\":{\"name\":", name);
    json_quote_text(out, account_name(account));
    buffer_printf(out, ",\"id\":\"5%s\"}", account->waba_id);
}

static void print_members(struct buffer *out, const struct account *account) {
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

/* Returns the account with all its fields. */
static struct slice whole_account(struct exchange *exchange, const struct account *account) {
    struct buffer own = buffer_in(exchange->arena), whole = buffer_in(exchange->arena);
    print_members(&own, account);
    node_answer_print(&whole, account->waba_id, buffer_slice(&own));
    return buffer_slice(&whole);
}

void waba_show(struct exchange *exchange, const struct target *target) {
    fields_print(exchange, whole_account(exchange, target->account), &waba_shape,
                 fields_chosen(exchange));
}

void subscription_list(struct exchange *exchange, const struct target *target) {
    struct slice edge = SLICE("{\"data\":[]}"); /* the control call may remove the member */
    json_member(whole_account(exchange, target->account), "subscribed_apps", &edge);
    buffer_add_slice(&exchange->reply.body, edge);
}
