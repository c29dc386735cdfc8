#include "nodes/edges.h"

#include "state/node_state.h"
#include "text/json_merge.h"
#include "wire/graph_error.h"
#include "wire/parameters.h"

/* No text message is sent, so every code is this one. */
#define SENT_CODE "123456"

/* The kind `registration` keeps {registered, verified, pin, code, ended}. */
static const char initial[] = "{\"registered\":true,\"verified\":true}";

static cJSON *state_of(const char *phone_id) {
    return node_state_read("registration", phone_id, initial);
}

static void keep(const char *phone_id, cJSON *state) {
    node_state_write("registration", phone_id, state);
    cJSON_Delete(state);
}

static bool check_pin(struct exchange *exchange, const char *pin) {
    if (strlen(pin) == 6 && strspn(pin, "0123456789") == 6)
        return true;
    reply_error(exchange, 100, "(#100) Param pin must be 6 digits.");
    return false;
}

void registration_register(struct exchange *exchange, const struct target *target) {
    const char *pin = parameter_product(exchange) ? parameter_needed(exchange, "pin") : NULL;
    if (!pin || !check_pin(exchange, pin))
        return;
    cJSON *state = state_of(target->id);
    const char *known = json_text(state, "pin");
    const int refusal = !cJSON_IsTrue(json_get(state, "verified")) ? 133006
                        : known && strcmp(known, pin) != 0         ? 133005
                                                                   : 0;
    if (refusal) {
        cJSON_Delete(state);
        reply_error_as(exchange, refusal, 0, NULL, NULL);
        return;
    }
    json_set(state, "registered", cJSON_CreateTrue());
    json_set(state, "pin", cJSON_CreateString(pin));
    keep(target->id, state);
    reply_success(exchange);
}

void registration_deregister(struct exchange *exchange, const struct target *target) {
    cJSON *state = state_of(target->id);
    json_set(state, "registered", cJSON_CreateFalse());
    json_set(state, "ended", cJSON_CreateNumber(registration_ended(target->id) + 1));
    keep(target->id, state);
    reply_success(exchange);
}

void registration_set_pin(struct exchange *exchange, const struct target *target, const char *pin) {
    if (!check_pin(exchange, pin))
        return;
    cJSON *state = state_of(target->id);
    json_set(state, "pin", cJSON_CreateString(pin));
    keep(target->id, state);
    reply_success(exchange);
}

void registration_request_code(struct exchange *exchange, const struct target *target) {
    const char *method = parameter_needed(exchange, "code_method");
    if (!method || !parameter_needed(exchange, "language"))
        return;
    if (strcmp(method, "SMS") != 0 && strcmp(method, "VOICE") != 0) {
        reply_error(exchange, 100, "(#100) Param code_method must be one of {SMS, VOICE}.");
        return;
    }
    cJSON *state = state_of(target->id);
    json_set(state, "verified", cJSON_CreateFalse());
    json_set(state, "code", cJSON_CreateString(SENT_CODE));
    keep(target->id, state);
    reply_success(exchange);
}

void registration_verify_code(struct exchange *exchange, const struct target *target) {
    const char *code = parameter_needed(exchange, "code");
    if (!code)
        return;
    cJSON *state = state_of(target->id);
    const char *known = json_text(state, "code");
    if (!known || strcmp(known, code) != 0) {
        cJSON_Delete(state);
        reply_error_as(exchange, 136025, 0, NULL, NULL);
        return;
    }
    json_set(state, "verified", cJSON_CreateTrue());
    json_set(state, "code", NULL);
    keep(target->id, state);
    reply_success(exchange);
}

bool registration_check(struct exchange *exchange, const char *phone_id) {
    cJSON *state = state_of(phone_id);
    bool registered = cJSON_IsTrue(json_get(state, "registered"));
    cJSON_Delete(state);
    if (!registered)
        reply_error_as(exchange, 133010, 0, NULL, NULL);
    return registered;
}

int registration_ended(const char *phone_id) {
    cJSON *state = state_of(phone_id);
    const cJSON *ended = json_get(state, "ended");
    int count = ended ? ended->valueint : 0;
    cJSON_Delete(state);
    return count;
}

void registration_print(struct buffer *out, const char *phone_id) {
    cJSON *state = state_of(phone_id);
    buffer_printf(out,
                  ",\"code_verification_status\":\"%s\",\"status\":\"%s\",\"is_pin_enabled\":%s",
                  cJSON_IsTrue(json_get(state, "verified")) ? "VERIFIED" : "NOT_VERIFIED",
                  cJSON_IsTrue(json_get(state, "registered")) ? "CONNECTED" : "DISCONNECTED",
                  json_get(state, "pin") ? "true" : "false");
    cJSON_Delete(state);
}
