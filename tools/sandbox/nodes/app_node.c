#include "nodes/edges.h"

#include "state/access_token.h"
#include "state/node_answer.h"
#include "state/settings.h"
#include "text/json_print.h"
#include "text/strict_json.h"
#include "wire/graph_error.h"
#include "wire/node_fields.h"
#include "wire/parameters.h"

#define SCOPES "\"whatsapp_business_management\",\"whatsapp_business_messaging\",\"public_profile\""

void app_show(struct exchange *exchange, const struct target *target) {
    static const struct node_shape shape = {
        .type = "Application",
        .standard = "category,link,name,id",
        .known = "namespace,icon_url,logo_url",
    };
    struct buffer whole = buffer_in(exchange->arena);
    (void)target;
    node_answer_print(&whole, APP_ID,
                      SLICE("{\"category\":\"Business and pages\",\"link\":\"" APP_LINK
                            "\",\"name\":\"" APP_NAME "\",\"app_type\":0,\"id\":\"" APP_ID "\"}"));
    fields_print(exchange, buffer_slice(&whole), &shape, fields_chosen(exchange));
}

/* The webhook that the app has in the settings, with the fields that a gateway needs. */
static void print_webhook(struct buffer *out) {
    static const char *const fields[] = {
        "messages",       "message_template_status_update", "message_template_quality_update",
        "account_update", "phone_number_quality_update",    "phone_number_name_update"};
    buffer_add_text(out, "{\"object\":\"whatsapp_business_account\",\"callback_url\":");
    json_quote_text(out, settings.webhook_url);
    buffer_add_text(out, ",\"active\":true,\"fields\":[");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        buffer_printf(out, "%s{\"name\":\"%s\",\"version\":\"v26.0\"}", i == 0 ? "" : ",",
                      fields[i]);
    buffer_add_text(out, "]}");
}

void app_subscriptions(struct exchange *exchange, const struct target *target) {
    struct buffer own = buffer_in(exchange->arena), whole = buffer_in(exchange->arena);
    struct slice edge = SLICE("{\"data\":[]}"); /* the control call may remove the member */
    (void)target;
    buffer_add_text(&own, "{\"subscriptions\":{\"data\":[");
    if (settings.webhook_url)
        print_webhook(&own);
    buffer_add_text(&own, "]}}");
    node_answer_print(&whole, APP_ID, buffer_slice(&own));
    json_member(buffer_slice(&whole), "subscriptions", &edge);
    buffer_add_slice(&exchange->reply.body, edge);
}

void app_subscriptions_refuse(struct exchange *exchange, const struct target *target) {
    (void)target;
    reply_error(exchange, 15, "(#15) This method must be called with an app access_token.");
}

static void print_refused(struct buffer *out, int subcode, const char *message) {
    buffer_add_text(out, "\"error\":{\"code\":190,\"message\":");
    json_quote_text(out, message);
    if (subcode != 0)
        buffer_printf(out, ",\"subcode\":%d", subcode);
    buffer_add_text(out, "},\"is_valid\":false,\"scopes\":[]");
}

static void print_valid(struct buffer *out, const struct account *account) {
    buffer_printf(out,
                  "\"app_id\":\"" APP_ID "\",\"type\":\"SYSTEM_USER\",\"application\":\"" APP_NAME
                  "\",\"data_access_expires_at\":0,\"expires_at\":0,\"is_valid\":true,"
                  "\"issued_at\":1767225600,\"scopes\":[" SCOPES "],\"granular_scopes\":["
                  "{\"scope\":\"whatsapp_business_management\",\"target_ids\":[\"%s\"]},"
                  "{\"scope\":\"whatsapp_business_messaging\",\"target_ids\":[\"%s\"]}],"
                  "\"user_id\":\"%s\"",
                  account->waba_id, account->waba_id, account->waba_id);
}

void token_debug(struct exchange *exchange, const struct target *target) {
    const char *token = parameter_needed(exchange, "input_token");
    struct buffer data = buffer_in(exchange->arena), *out = &data;
    (void)target;
    if (!token)
        return;
    buffer_add_char(out, '{');
    switch (token_check(token)) {
    case TOKEN_VALID: print_valid(out, account_by_token(token)); break;
    case TOKEN_APP:
        buffer_add_text(out,
                        "\"app_id\":\"" APP_ID "\",\"type\":\"APP\",\"application\":\"" APP_NAME
                        "\",\"is_valid\":true,\"scopes\":[]");
        break;
    case TOKEN_EXPIRED:
        print_refused(out, 463, "Error validating access token: Session has expired");
        break;
    case TOKEN_REVOKED:
        print_refused(out, 460, "Error validating access token: The session has been invalidated");
        break;
    case TOKEN_UNKNOWN: print_refused(out, 0, "Invalid OAuth access token data."); break;
    }
    buffer_add_char(out, '}');
    buffer_add_text(&exchange->reply.body, "{\"data\":");
    node_answer_print(&exchange->reply.body, token, buffer_slice(out));
    buffer_add_char(&exchange->reply.body, '}');
}
