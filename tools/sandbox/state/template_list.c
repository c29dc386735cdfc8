#include "state/template_list.h"

#include <inttypes.h>
#include <strings.h>

#include "state/settings.h"
#include "text/json_fields.h"
#include "text/json_merge.h"
#include "text/json_print.h"
#include "text/memory.h"
#include "text/strict_json.h"

static void template_make(struct buffer *out, const char *prefix, int64_t i) {
    static int64_t count;
    count++;
    buffer_printf(out,
                  "{\"name\":\"%s%" PRId64
                  "\",\"parameter_format\":\"POSITIONAL\",\"components\":[{"
                  "\"type\":\"BODY\",\"text\":\"Message number %" PRId64
                  ".\"}],\"language\":\"en_US\",\"status\":\"APPROVED\",\"category\":\"UTILITY\","
                  "\"id\":\"88%012" PRId64 "\"}",
                  prefix, i, i, count);
}

struct collection templates = {.make = template_make};

enum filter_kind { FILTER_SUBSTRING, FILTER_EXACT, FILTER_ANY_CASE };

static bool filter_passes(const struct exchange *exchange, struct slice item, const char *name,
                          enum filter_kind kind) {
    const char *want = exchange_parameter(exchange, name);
    if (!want || *want == '\0')
        return true;
    const char *text = json_member_text(exchange->arena, item, name);
    if (!text)
        return false;
    switch (kind) {
    case FILTER_SUBSTRING: return strstr(text, want) != NULL;
    case FILTER_ANY_CASE: return strcasecmp(text, want) == 0;
    case FILTER_EXACT: break;
    }
    return strcmp(text, want) == 0;
}

static bool template_wanted(const struct exchange *exchange, struct slice item) {
    static const struct {
        const char *name;
        enum filter_kind kind;
    } filters[] = {
        {"name", FILTER_SUBSTRING},
        {"language", FILTER_EXACT},
        {"status", FILTER_ANY_CASE},
        {"category", FILTER_ANY_CASE},
    };
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (!filter_passes(exchange, item, filters[i].name, filters[i].kind))
            return false;
    return true;
}

/* Without a choice a template is printed whole. */
static const struct node_shape template_shape = {
    .type = "WhatsAppMessageTemplate",
    .known = "id,name,language,status,category,components,parameter_format,sub_category,"
             "previous_category,correct_category,rejected_reason,rejection_info,quality_score,"
             "message_send_ttl_seconds,cta_url_link_tracking_opted_out,library_template_name,"
             "library_template_body_inputs,library_template_button_inputs,is_primary_device_"
             "delivery_only,degrees_of_freedom_spec,specific_rejection_reason",
};

void template_list(struct exchange *exchange, const struct target *target) {
    struct page_rules rules = {.cap = settings.template_page_cap,
                               .silent = settings.template_page_cap_silent,
                               .shape = &template_shape,
                               .wanted = template_wanted};
    list_page(exchange, &templates, target->account->waba_id, &rules);
}

void template_show(struct exchange *exchange, const struct target *target) {
    struct page_rules rules = {.shape = &template_shape};
    list_item(exchange, collection_find(&templates, target->id), &rules);
}

const struct account *template_owner(const char *id) {
    return collection_owner(&templates, id);
}

/* Whether member `name` of the item is the string `want`. A value with an escape is decoded. */
static bool member_is(struct arena *arena, struct slice item, const char *name, const char *want) {
    struct slice value;
    if (!json_member(item, name, &value))
        return false;
    if (memchr(value.p, '\\', value.n)) {
        const char *text = json_member_text(arena, item, name);
        return text && strcmp(text, want) == 0;
    }
    return value.n >= 2 && *value.p == '"' &&
           slice_equal((struct slice){value.p + 1, value.n - 2}, slice_of(want));
}

const struct item *template_find(struct arena *arena, const struct account *account,
                                 const char *name, const char *language) {
    for (size_t i = 0; i < templates.count; i++) {
        const struct item *item = &templates.items[i];
        if (strcmp(item->owner, account->waba_id) == 0 &&
            member_is(arena, item->raw, "name", name) &&
            member_is(arena, item->raw, "language", language))
            return item;
    }
    return NULL;
}

bool template_settle(const char *id, const char *status, const char *reason) {
    const struct item *item = collection_find(&templates, id);
    if (!item)
        return false;
    struct arena *arena = memory_open();
    cJSON *template = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    const char *before = json_text(template, "status");
    const char *wanted = strcmp(status, "PAUSED") == 0 ? "APPROVED" : "PENDING";
    const bool settles = before && strcmp(before, wanted) == 0;
    if (settles) {
        struct buffer raw = buffer_in(arena);
        json_set(template, "status", cJSON_CreateString(status));
        json_set(template, "rejected_reason", cJSON_CreateString(reason));
        json_print(&raw, template);
        collection_replace(&templates, id, buffer_slice(&raw));
    }
    cJSON_Delete(template);
    memory_close(arena);
    return settles;
}
