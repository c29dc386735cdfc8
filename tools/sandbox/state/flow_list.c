#include "state/flow_list.h"

#include <inttypes.h>
#include <time.h>

#include "base/clock.h"
#include "state/flow_asset.h"
#include "state/graph_target.h"
#include "state/node_state.h"
#include "state/settings.h"
#include "text/json_print.h"
#include "text/strict_json.h"
#include "text/text.h"

enum { PREVIEW_SECONDS = 30 * 24 * 3600 };

static void flow_make(struct buffer *out, const char *prefix, int64_t i) {
    static int64_t count;
    count++;
    buffer_printf(out,
                  "{\"id\":\"77%012" PRId64 "\",\"name\":\"%s%" PRId64
                  "\",\"status\":\"PUBLISHED\",\"categories\":[\"OTHER\"],"
                  "\"validation_errors\":[]}",
                  count, prefix, i);
}

struct collection flows = {.make = flow_make};

static const struct node_shape asset_shape = {
    .type = "WhatsAppFlowAsset", .standard = "name,asset_type,download_url", .without_id = true};

static const struct node_member flow_members[] = {{"assets", &asset_shape}, {NULL, NULL}};

static const struct node_shape flow_shape = {
    .type = "WhatsAppFlow",
    .standard = "id,name,status,categories,validation_errors",
    .known = "json_version,data_api_version,data_channel_uri,endpoint_uri,updated_at,metric",
    .members = flow_members,
};

/* Returns the token of the flow's preview URL; a new one when the fields say so. */
static const char *preview_token(struct exchange *exchange, const char *id) {
    cJSON *state = node_state_read("preview", id, "{\"token\":\"b9d6\"}");
    if (fields_modified(exchange, "preview", "invalidate(true)")) {
        unsigned char noise[8];
        crypto_random(noise, sizeof noise);
        cJSON_ReplaceItemInObject(
            state, "token", cJSON_CreateString(crypto_hex(exchange->arena, noise, sizeof noise)));
        node_state_write("preview", id, state);
    }
    const char *token = text_copy(exchange->arena, json_text(state, "token"));
    cJSON_Delete(state);
    return token;
}

/* Appends a time of the platform: ISO 8601 without a colon in the offset, or with date_format=U
 * seconds. */
static void print_time(struct exchange *exchange, struct buffer *out, int64_t seconds) {
    const char *format = exchange_parameter(exchange, "date_format");
    time_t at = (time_t)seconds;
    struct tm parts;
    char text[32];
    if (format && strcmp(format, "U") == 0) {
        buffer_printf(out, "%" PRId64, seconds);
        return;
    }
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+0000", gmtime_r(&at, &parts));
    buffer_printf(out, "\"%s\"", text);
}

static void print_preview(struct exchange *exchange, struct buffer *out, const struct item *item) {
    buffer_printf(out,
                  ",\"preview\":{\"preview_url\":\"https:\\/\\/business.facebook.com\\/wa\\/manage"
                  "\\/flows\\/%s\\/preview\\/?token=%s\",\"expires_at\":",
                  item->id, preview_token(exchange, item->id));
    print_time(exchange, out, clock_now() / 1000 + PREVIEW_SECONDS);
    buffer_add_char(out, '}');
}

static void print_owner(struct buffer *out, const struct item *item) {
    const struct account *account = account_by_waba(item->owner);
    buffer_printf(out, ",\"whatsapp_business_account\":{\"id\":\"%s\",\"name\":", item->owner);
    json_quote_text(out, account ? account_name(account) : "");
    buffer_printf(out,
                  ",\"timezone_id\":\"1\",\"message_template_namespace\":\"ns_%s\"},"
                  "\"application\":{\"id\":\"" APP_ID "\",\"name\":\"" APP_NAME
                  "\",\"link\":\"" APP_LINK "\"}",
                  item->owner);
}

static void print_health(struct buffer *out, const struct item *item) {
    buffer_printf(out,
                  ",\"health_status\":{\"can_send_message\":\"AVAILABLE\",\"entities\":["
                  "{\"entity_type\":\"FLOW\",\"id\":\"%s\",\"can_send_message\":\"AVAILABLE\"},"
                  "{\"entity_type\":\"WABA\",\"id\":\"%s\",\"can_send_message\":\"AVAILABLE\"}]}",
                  item->id, item->owner);
}

/* The stored members of a flow, and those that depend on the request. */
static struct slice flow_whole(struct exchange *exchange, const struct item *item) {
    struct buffer whole = buffer_in(exchange->arena);
    buffer_add(&whole, item->raw.p, item->raw.n - 1);
    print_preview(exchange, &whole, item);
    print_owner(&whole, item);
    print_health(&whole, item);
    buffer_add_text(&whole, ",\"assets\":");
    flow_asset_print(exchange, &whole, item->id);
    buffer_add_char(&whole, '}');
    return buffer_slice(&whole);
}

void flow_list(struct exchange *exchange, const struct target *target) {
    struct page_rules rules = {.cap = settings.flow_page_cap,
                               .silent = settings.flow_page_cap_silent,
                               .shape = &flow_shape,
                               .whole = flow_whole};
    list_page(exchange, &flows, target->account->waba_id, &rules);
}

void flow_show(struct exchange *exchange, const struct target *target) {
    struct page_rules rules = {.shape = &flow_shape, .whole = flow_whole};
    list_item(exchange, collection_find(&flows, target->id), &rules);
}

bool flow_json(struct arena *arena, struct buffer *out, const char *flow) {
    for (size_t i = 0; i < flows.count; i++) {
        const struct item *item = &flows.items[i];
        if (strcmp(item->id, flow) == 0 ||
            text_matches(json_member_text(arena, item->raw, "name"), flow))
            return flow_asset_add(out, item->id);
    }
    return false;
}

const struct account *flow_owner(const char *id) {
    return collection_owner(&flows, id);
}
