#include "judge/interactive.h"

#include "judge/carousel.h"
#include "judge/media_reference.h"
#include "judge/url_button.h"
#include "state/flow_list.h"
#include "text/json_fields.h"
#include "text/text.h"
#include "wire/graph_error.h"

#define END                                                                                        \
    { .name = NULL }
#define TYPE                                                                                       \
    { .name = "type", .kind = RULE_STRING, .required = true }

enum { ROWS_MAX = 10, PRODUCTS_MAX = 30, CALL_MINUTES_MAX = 43200 };

static const struct rule body_1024[] = {
    {.name = "text", .kind = RULE_STRING, .required = true, .min = 1, .max = 1024},
    END,
};

static const struct rule body_4096[] = {
    {.name = "text", .kind = RULE_STRING, .required = true, .min = 1, .max = 4096},
    END,
};

static const struct rule footer_60[] = {
    {.name = "text", .kind = RULE_STRING, .required = true, .min = 1, .max = 60},
    END,
};

static const struct rule text_header[] = {
    {.name = "type", .kind = RULE_STRING, .required = true, .choices = "text"},
    {.name = "text", .kind = RULE_STRING, .required = true, .min = 1, .max = 60},
    END,
};

static const struct rule any_header[] = {
    {.name = "type", .kind = RULE_STRING, .required = true, .choices = "text|image|video|document"},
    {.name = "text", .kind = RULE_STRING, .min = 1, .max = 60},
    {.name = "image", .kind = RULE_OBJECT},
    {.name = "video", .kind = RULE_OBJECT},
    {.name = "document", .kind = RULE_OBJECT},
    END,
};

static const struct rule reply_rules[] = {
    {.name = "id", .kind = RULE_STRING, .required = true, .min = 1, .max = 256},
    {.name = "title", .kind = RULE_STRING, .required = true, .min = 1, .max = 20},
    END,
};

static const struct rule button_rules[] = {
    {.name = "type", .kind = RULE_STRING, .required = true, .choices = "reply"},
    {.name = "reply", .kind = RULE_OBJECT, .required = true, .members = reply_rules},
    END,
};

static const struct rule button_action[] = {
    {.name = "buttons",
     .kind = RULE_LIST,
     .required = true,
     .min = 1,
     .max = 3,
     .members = button_rules},
    END,
};

static const struct rule row_rules[] = {
    {.name = "id", .kind = RULE_STRING, .required = true, .min = 1, .max = 200},
    {.name = "title", .kind = RULE_STRING, .required = true, .min = 1, .max = 24},
    {.name = "description", .kind = RULE_STRING, .max = 72},
    END,
};

static const struct rule row_section[] = {
    {.name = "title", .kind = RULE_STRING, .max = 24},
    {.name = "rows",
     .kind = RULE_LIST,
     .required = true,
     .min = 1,
     .max = 10,
     .members = row_rules},
    END,
};

static const struct rule list_action[] = {
    {.name = "button", .kind = RULE_STRING, .required = true, .min = 1, .max = 20},
    {.name = "sections",
     .kind = RULE_LIST,
     .required = true,
     .min = 1,
     .max = 10,
     .members = row_section},
    END,
};

static const struct rule product_action[] = {
    {.name = "catalog_id", .kind = RULE_STRING, .required = true, .min = 1},
    {.name = "product_retailer_id", .kind = RULE_STRING, .required = true, .min = 1},
    END,
};

static const struct rule item_rules[] = {
    {.name = "product_retailer_id", .kind = RULE_STRING, .required = true, .min = 1},
    END,
};

static const struct rule product_section[] = {
    {.name = "title", .kind = RULE_STRING, .max = 24},
    {.name = "product_items",
     .kind = RULE_LIST,
     .required = true,
     .min = 1,
     .max = 30,
     .members = item_rules},
    END,
};

static const struct rule product_list_action[] = {
    {.name = "catalog_id", .kind = RULE_STRING, .required = true, .min = 1},
    {.name = "sections",
     .kind = RULE_LIST,
     .required = true,
     .min = 1,
     .max = 10,
     .members = product_section},
    END,
};

static const struct rule thumbnail_rules[] = {
    {.name = "thumbnail_product_retailer_id", .kind = RULE_STRING, .required = true, .min = 1},
    END,
};

static const struct rule catalog_action[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .choices = "catalog_message"},
    {.name = "parameters", .kind = RULE_OBJECT, .members = thumbnail_rules},
    END,
};

static const struct rule button_rules_all[] = {
    TYPE,
    {.name = "header", .kind = RULE_OBJECT, .members = any_header},
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "footer", .kind = RULE_OBJECT, .members = footer_60},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = button_action},
    END,
};

static const struct rule list_rules_all[] = {
    TYPE,
    {.name = "header", .kind = RULE_OBJECT, .members = text_header},
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_4096},
    {.name = "footer", .kind = RULE_OBJECT, .members = footer_60},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = list_action},
    END,
};

static const struct rule product_rules_all[] = {
    TYPE,
    {.name = "body", .kind = RULE_OBJECT, .members = body_1024},
    {.name = "footer", .kind = RULE_OBJECT, .members = footer_60},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = product_action},
    END,
};

static const struct rule product_list_rules_all[] = {
    TYPE,
    {.name = "header", .kind = RULE_OBJECT, .required = true, .members = text_header},
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "footer", .kind = RULE_OBJECT, .members = footer_60},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = product_list_action},
    END,
};

static const struct rule catalog_rules_all[] = {
    TYPE,
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "footer", .kind = RULE_OBJECT, .members = footer_60},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = catalog_action},
    END,
};

static const struct rule cta_url_action[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .choices = "cta_url"},
    {.name = "parameters", .kind = RULE_OBJECT, .required = true, .members = url_button_rules},
    END,
};

static const struct rule cta_url_rules_all[] = {
    TYPE,
    {.name = "header", .kind = RULE_OBJECT, .members = any_header},
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "footer", .kind = RULE_OBJECT, .members = footer_60},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = cta_url_action},
    END,
};

static const struct rule flow_payload_rules[] = {
    {.name = "screen", .kind = RULE_STRING, .min = 1},
    {.name = "data", .kind = RULE_OBJECT},
    END,
};

static const struct rule flow_parameters[] = {
    {.name = "flow_message_version", .kind = RULE_STRING, .required = true, .choices = "3"},
    {.name = "flow_id", .kind = RULE_STRING, .min = 1},
    {.name = "flow_name", .kind = RULE_STRING, .min = 1},
    {.name = "flow_cta", .kind = RULE_STRING, .required = true, .min = 1},
    {.name = "flow_token", .kind = RULE_STRING, .min = 1},
    {.name = "mode", .kind = RULE_STRING, .choices = "draft|published"},
    {.name = "flow_action", .kind = RULE_STRING, .choices = "navigate|data_exchange"},
    {.name = "flow_action_payload", .kind = RULE_OBJECT, .members = flow_payload_rules},
    END,
};

static const struct rule flow_action[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .choices = "flow"},
    {.name = "parameters", .kind = RULE_OBJECT, .required = true, .members = flow_parameters},
    END,
};

static const struct rule flow_rules_all[] = {
    TYPE,
    {.name = "header", .kind = RULE_OBJECT, .members = any_header},
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "footer", .kind = RULE_OBJECT, .members = footer_60},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = flow_action},
    END,
};

/* `parameters` are not documented; @kapso/whatsapp-cloud-api sends them. */
static const struct rule send_location_action[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .choices = "send_location"},
    {.name = "parameters", .kind = RULE_OBJECT},
    END,
};

static const struct rule location_request_rules_all[] = {
    TYPE,
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = send_location_action},
    END,
};

#define ADDRESS_FIELD(member)                                                                      \
    { .name = member, .kind = RULE_STRING }

/* The fields of an address, as values and as errors. */
static const struct rule address_rules[] = {
    ADDRESS_FIELD("name"),         ADDRESS_FIELD("phone_number"),
    ADDRESS_FIELD("in_pin_code"),  ADDRESS_FIELD("sg_post_code"),
    ADDRESS_FIELD("house_number"), ADDRESS_FIELD("floor_number"),
    ADDRESS_FIELD("tower_number"), ADDRESS_FIELD("building_name"),
    ADDRESS_FIELD("address"),      ADDRESS_FIELD("landmark_area"),
    ADDRESS_FIELD("unit_number"),  ADDRESS_FIELD("city"),
    ADDRESS_FIELD("state"),        END,
};

static const struct rule saved_address_rules[] = {
    {.name = "id", .kind = RULE_STRING, .required = true, .min = 1},
    {.name = "value", .kind = RULE_OBJECT, .required = true, .members = address_rules},
    END,
};

static const struct rule address_parameters[] = {
    {.name = "country", .kind = RULE_STRING, .required = true, .min = 2, .max = 2},
    {.name = "values", .kind = RULE_OBJECT, .members = address_rules},
    {.name = "validation_errors", .kind = RULE_OBJECT, .members = address_rules},
    {.name = "saved_addresses", .kind = RULE_LIST, .members = saved_address_rules},
    END,
};

static const struct rule address_action[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .choices = "address_message"},
    {.name = "parameters", .kind = RULE_OBJECT, .required = true, .members = address_parameters},
    END,
};

static const struct rule address_rules_all[] = {
    TYPE,
    {.name = "header", .kind = RULE_OBJECT, .members = any_header},
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "footer", .kind = RULE_OBJECT, .members = footer_60},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = address_action},
    END,
};

static const struct rule call_permission_action[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .choices = "call_permission_request"},
    {.name = "parameters", .kind = RULE_OBJECT}, /* as those of send_location */
    END,
};

static const struct rule call_permission_rules_all[] = {
    TYPE,
    {.name = "body", .kind = RULE_OBJECT, .members = body_1024},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = call_permission_action},
    END,
};

static const struct rule contact_request_action[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .choices = "request_contact_info"},
    END,
};

static const struct rule contact_request_rules_all[] = {
    TYPE,
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = contact_request_action},
    END,
};

static const struct rule call_parameters[] = {
    {.name = "display_text", .kind = RULE_STRING, .min = 1, .max = 20},
    {.name = "ttl_minutes", .kind = RULE_NUMBER},
    {.name = "payload", .kind = RULE_STRING, .max = 512},
    END,
};

static const struct rule call_action[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .choices = "voice_call"},
    {.name = "parameters", .kind = RULE_OBJECT, .members = call_parameters},
    END,
};

static const struct rule call_rules_all[] = {
    TYPE,
    {.name = "body", .kind = RULE_OBJECT, .required = true, .members = body_1024},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = call_action},
    END,
};

static bool refuse(struct send *send, const char *details) {
    reply_error_details(send->exchange, 131009, "%s", details);
    return false;
}

/* True if no two objects of a list have the same text in member `name`; `inner` is the member that
 * holds the object with that text, NULL for the list's object itself. */
static bool texts_unique(const cJSON *list, const char *inner, const char *name) {
    const cJSON *a;
    cJSON_ArrayForEach(a, list) {
        const char *text = json_text(inner ? json_get(a, inner) : a, name);
        for (const cJSON *b = a->next; b; b = b->next)
            if (strcmp(text, json_text(inner ? json_get(b, inner) : b, name)) == 0)
                return false;
    }
    return true;
}

static bool header_check(struct send *send, const cJSON *header) {
    const char *type = json_text(header, "type");
    const cJSON *content = type ? json_get(header, type) : NULL;
    if (!header)
        return true;
    if (!content)
        return refuse(send, "The header has no content of its type.");
    if (cJSON_IsString(content))
        return true;
    const char *path = arena_printf(send->exchange->arena, "interactive.header.%s", type);
    return media_reference_check(send, path, content);
}

static bool button_check(struct send *send, const cJSON *interactive) {
    const cJSON *buttons = json_get(json_get(interactive, "action"), "buttons");
    if (!texts_unique(buttons, "reply", "title"))
        return refuse(send, "Duplicated title of button.");
    if (!texts_unique(buttons, "reply", "id"))
        return refuse(send, "Duplicated id of button.");
    return header_check(send, json_get(interactive, "header"));
}

static bool cta_url_check(struct send *send, const cJSON *interactive) {
    return url_button_check(send, json_get(interactive, "action")) &&
           header_check(send, json_get(interactive, "header"));
}

/* Checks that the flow belongs to the account and may be opened. A flow that is given by its name
 * is not looked up. */
static bool flow_usable(struct send *send, const cJSON *parameters) {
    const char *id = json_text(parameters, "flow_id"), *mode = json_text(parameters, "mode");
    const struct item *item = id ? collection_find(&flows, id) : NULL;
    if (!id)
        return true;
    if (!item || collection_owner(&flows, id) != send->account)
        return refuse(send, "The flow_id belongs to no flow of this account.");
    cJSON *flow = cJSON_ParseWithLength(item->raw.p, item->raw.n);
    const char *status = json_text(flow, "status");
    bool draft = text_matches(status, "DRAFT"), published = text_matches(status, "PUBLISHED");
    bool blocked = text_matches(status, "BLOCKED"), throttled = text_matches(status, "THROTTLED");
    cJSON_Delete(flow);
    if (blocked || throttled) {
        reply_error_as(send->exchange, blocked ? 132068 : 132069, 0, NULL, NULL);
        return false;
    }
    return (mode && strcmp(mode, "draft") == 0 ? draft : published) ||
           refuse(send, "The flow is not in the mode of the message.");
}

static bool flow_check(struct send *send, const cJSON *interactive) {
    const cJSON *parameters = json_get(json_get(interactive, "action"), "parameters");
    const cJSON *payload = json_get(parameters, "flow_action_payload");
    const cJSON *data = json_get(payload, "data");
    const char *action = json_text(parameters, "flow_action");
    if (!json_get(parameters, "flow_id") == !json_get(parameters, "flow_name"))
        return refuse(send, "Exactly one of flow_id and flow_name is required.");
    if (payload && action && strcmp(action, "data_exchange") == 0)
        return refuse(send, "flow_action_payload is not allowed with data_exchange.");
    if (data && !data->child)
        return refuse(send, "The data of flow_action_payload must not be empty.");
    return flow_usable(send, parameters) && header_check(send, json_get(interactive, "header"));
}

static bool address_check(struct send *send, const cJSON *interactive) {
    return header_check(send, json_get(interactive, "header"));
}

static bool call_check(struct send *send, const cJSON *interactive) {
    const cJSON *parameters = json_get(json_get(interactive, "action"), "parameters");
    const cJSON *minutes = json_get(parameters, "ttl_minutes");
    double value = minutes ? minutes->valuedouble : 1;
    return (value >= 1 && value <= CALL_MINUTES_MAX && value == (int)value) ||
           refuse(send, "ttl_minutes must be 1 to 43200.");
}

/* True if every section has a title, or if there is only one section. */
static bool section_titles_given(const cJSON *sections) {
    const cJSON *section;
    bool given = true;
    cJSON_ArrayForEach(section, sections) {
        const char *title = json_text(section, "title");
        given = given && title && *title != '\0';
    }
    return given || cJSON_GetArraySize(sections) < 2;
}

/* Returns the number of items of all sections together; *unique is false if two rows share an
 * id. */
static int section_items(const cJSON *sections, const char *name, bool *unique) {
    const cJSON *section;
    cJSON *all = cJSON_CreateArray();
    int count;
    cJSON_ArrayForEach(section, sections) {
        cJSON *item;
        cJSON_ArrayForEach(item, json_get(section, name)) {
            cJSON_AddItemReferenceToArray(all, item);
        }
    }
    count = cJSON_GetArraySize(all);
    *unique = strcmp(name, "rows") != 0 || texts_unique(all, NULL, "id");
    cJSON_Delete(all);
    return count;
}

static bool list_check(struct send *send, const cJSON *interactive) {
    const cJSON *sections = json_get(json_get(interactive, "action"), "sections");
    bool unique;
    if (section_items(sections, "rows", &unique) > ROWS_MAX)
        return refuse(send, "Total row count exceeds the allowed 10.");
    if (!unique)
        return refuse(send, "Duplicated row id.");
    return section_titles_given(sections) ||
           refuse(send, "Section title is required when there is more than one section.");
}

static bool product_list_check(struct send *send, const cJSON *interactive) {
    const cJSON *sections = json_get(json_get(interactive, "action"), "sections");
    bool unique;
    if (section_items(sections, "product_items", &unique) > PRODUCTS_MAX)
        return refuse(send, "Total product count exceeds the allowed 30.");
    return section_titles_given(sections) ||
           refuse(send, "Section title is required when there is more than one section.");
}

/* Returns the rules and the check of the interactive object. */
static const struct message_type *kind_find(const cJSON *interactive) {
    static const struct message_type kinds[] = {
        {"button", button_rules_all, button_check, false},
        {"list", list_rules_all, list_check, false},
        {"product", product_rules_all, NULL, false},
        {"product_list", product_list_rules_all, product_list_check, false},
        {"catalog_message", catalog_rules_all, NULL, false},
        {"cta_url", cta_url_rules_all, cta_url_check, false},
        {"flow", flow_rules_all, flow_check, false},
        {"address_message", address_rules_all, address_check, false},
        {"location_request_message", location_request_rules_all, NULL, false},
        {"call_permission_request", call_permission_rules_all, NULL, false},
        {"request_contact_info", contact_request_rules_all, NULL, false},
        {"voice_call", call_rules_all, call_check, false},
    };
    const char *type = json_text(interactive, "type");
    const struct message_type *kind =
        strcmp(type, "carousel") == 0 ? carousel_kind(interactive) : kinds;
    while (strcmp(kind->name, type) != 0)
        kind++;
    return kind;
}

bool interactive_check(struct send *send, const cJSON *interactive) {
    const struct message_type *kind = kind_find(interactive);
    rules_settle(cJSON_GetObjectItemCaseSensitive(send->body, "interactive"), kind->rules,
                 send->exchange->form);
    return rules_check(send->exchange, "interactive", interactive, kind->rules) &&
           (!kind->check || kind->check(send, interactive));
}
