#include "nodes/edges.h"

#include "nodes/callback_handshake.h"
#include "state/node_state.h"
#include "state/settings.h"
#include "text/json_print.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

static const char subscription_initial[] = "{\"subscribed\":true}";

static void add_callback(cJSON *state, const struct callback *callback) {
    cJSON_AddStringToObject(state, "override_callback_uri", callback->url);
    cJSON_AddStringToObject(state, "verify_token", callback->verify_token);
}

static void subscription_store(const struct callback *callback) {
    cJSON *state = cJSON_Parse(subscription_initial);
    add_callback(state, callback);
    node_state_write("subscription", callback->node_id, state);
    cJSON_Delete(state);
}

static void number_store(const struct callback *callback) {
    cJSON *state = cJSON_CreateObject();
    add_callback(state, callback);
    node_state_write("webhook", callback->node_id, state);
    cJSON_Delete(state);
}

/* Appends the override of a node as member `name`, if it has one. */
static void print_override(struct buffer *out, const char *name, const char *kind, const char *id) {
    cJSON *state = node_state_read(kind, id, "{}");
    const char *url = json_text(state, "override_callback_uri");
    if (url) {
        buffer_printf(out, "%s\"%s\":", out->p[out->n - 1] == '{' ? "" : ",", name);
        json_quote_text(out, url);
    }
    cJSON_Delete(state);
}

void override_print(struct buffer *out, const char *waba_id, const char *phone_id) {
    buffer_add_char(out, '{');
    if (settings.webhook_url) {
        buffer_add_text(out, "\"application\":");
        json_quote_text(out, settings.webhook_url);
    }
    print_override(out, "whatsapp_business_account", "subscription", waba_id);
    print_override(out, "phone_number", "webhook", phone_id);
    buffer_add_char(out, '}');
}

void subscription_print(struct buffer *out, const char *waba_id) {
    cJSON *state = node_state_read("subscription", waba_id, subscription_initial);
    buffer_add_text(out, "{\"data\":[");
    if (cJSON_IsTrue(json_get(state, "subscribed"))) {
        buffer_add_text(out, "{\"whatsapp_business_api_data\":{\"link\":\"" APP_LINK
                             "\",\"name\":\"" APP_NAME "\",\"id\":\"" APP_ID "\"}");
        print_override(out, "override_callback_uri", "subscription", waba_id);
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "]}");
    cJSON_Delete(state);
}

void subscription_add(struct exchange *exchange, const struct target *target) {
    struct callback callback = {.node_id = target->id,
                                .url = parameter_text(exchange, "override_callback_uri"),
                                .verify_token = parameter_text(exchange, "verify_token"),
                                .store = subscription_store};
    if (callback.url && *callback.url != '\0') {
        handshake_prepare(exchange, &callback);
        return;
    }
    node_state_delete("subscription", target->id);
    reply_success(exchange);
}

void subscription_remove(struct exchange *exchange, const struct target *target) {
    cJSON *state = cJSON_CreateObject();
    cJSON_AddBoolToObject(state, "subscribed", false);
    node_state_write("subscription", target->id, state);
    cJSON_Delete(state);
    reply_success(exchange);
}

void override_set(struct exchange *exchange, const struct target *target,
                  const cJSON *configuration) {
    struct callback callback = {.node_id = target->id,
                                .url = json_text(configuration, "override_callback_uri"),
                                .verify_token = json_text(configuration, "verify_token"),
                                .store = number_store};
    if (!callback.url) {
        reply_error(exchange, 100,
                    "(#100) The parameter webhook_configuration['override_callback_uri'] is "
                    "required.");
    } else if (*callback.url != '\0') {
        handshake_prepare(exchange, &callback);
    } else {
        node_state_delete("webhook", target->id);
        reply_success(exchange);
    }
}
