#include "nodes/edges.h"

#include "state/access_token.h"
#include "text/json_print.h"
#include "wire/node_fields.h"
#include "wire/parameters.h"

#define SCOPES "\"whatsapp_business_management\",\"whatsapp_business_messaging\",\"public_profile\""

void app_show(struct exchange *exchange, const struct target *target) {
    static const struct node_shape shape = {
        .type = "Application",
        .standard = "category,link,name,id",
        .known = "namespace,icon_url,logo_url",
    };
    (void)target;
    fields_print(exchange,
                 SLICE("{\"category\":\"Business and pages\",\"link\":\"" APP_LINK
                       "\",\"name\":\"" APP_NAME "\",\"app_type\":0,\"id\":\"" APP_ID "\"}"),
                 &shape, fields_chosen(exchange));
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
    struct buffer *out = &exchange->reply.body;
    (void)target;
    if (!token)
        return;
    buffer_add_text(out, "{\"data\":{");
    switch (token_check(token)) {
    case TOKEN_VALID: print_valid(out, account_by_token(token)); break;
    case TOKEN_EXPIRED:
        print_refused(out, 463, "Error validating access token: Session has expired");
        break;
    case TOKEN_REVOKED:
        print_refused(out, 460, "Error validating access token: The session has been invalidated");
        break;
    case TOKEN_UNKNOWN: print_refused(out, 0, "Invalid OAuth access token data."); break;
    }
    buffer_add_text(out, "}}");
}
