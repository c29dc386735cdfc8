#include "wire/parameters.h"

#include "text/json_print.h"
#include "text/strict_json.h"
#include "wire/graph_error.h"

/* Replaces a text that is a JSON object or a list by that value. */
static cJSON *settle(struct exchange *exchange, const char *name, cJSON *value) {
    const char *text = cJSON_GetStringValue(value);
    cJSON *parsed = text && (*text == '{' || *text == '[') ? json_parse(slice_of(text)) : NULL;
    if (!parsed)
        return value;
    cJSON_ReplaceItemInObjectCaseSensitive(exchange->json, name, parsed);
    return parsed;
}

const cJSON *parameter(struct exchange *exchange, const char *name) {
    cJSON *value = cJSON_GetObjectItemCaseSensitive(exchange->json, name);
    return cJSON_IsNull(value) ? NULL : settle(exchange, name, value);
}

const char *parameter_text(struct exchange *exchange, const char *name) {
    const cJSON *value = json_get(exchange->json, name);
    struct buffer text = buffer_in(exchange->arena);
    if (!value)
        return exchange_parameter(exchange, name);
    if (cJSON_IsString(value)) /* a copy, because settle() may replace the value */
        return arena_copy(exchange->arena, slice_of(value->valuestring));
    if (!cJSON_IsNumber(value) && !cJSON_IsBool(value))
        return NULL;
    json_print(&text, value);
    return text.p;
}

const char *parameter_needed(struct exchange *exchange, const char *name) {
    const char *text = parameter_text(exchange, name);
    if (text && *text != '\0')
        return text;
    reply_error(exchange, 100, "(#100) The parameter %s is required.", name);
    return NULL;
}

bool parameter_flag(struct exchange *exchange, const char *name, bool *flag) {
    const char *text = parameter_text(exchange, name);
    if (!parameter(exchange, name))
        return true;
    if (!text || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)) {
        reply_error(exchange, 100, "(#100) Param %s must be a boolean", name);
        return false;
    }
    *flag = *text == 't';
    return true;
}

bool parameter_product(struct exchange *exchange) {
    const char *product = parameter_needed(exchange, "messaging_product");
    if (!product)
        return false;
    if (strcmp(product, "whatsapp") == 0)
        return true;
    reply_error(exchange, 100, "(#100) Param messaging_product must be one of {whatsapp}.");
    return false;
}

void reply_success(struct exchange *exchange) {
    buffer_add_text(&exchange->reply.body, "{\"success\":true}");
}
