#include "message_types.h"

#include <math.h>
#include <stdlib.h>

#include "graph_error.h"
#include "interactive.h"
#include "json_fields.h"
#include "media_reference.h"
#include "template_send.h"

#define END                                                                                        \
    { .name = NULL }
#define OPEN                                                                                       \
    { .name = RULE_OPEN }

static const struct rule text_rules[] = {
    {.name = "body", .kind = RULE_STRING, .required = true, .min = 1, .max = 4096},
    {.name = "preview_url", .kind = RULE_FLAG},
    END,
};

static const struct rule captioned_rules[] = {
    {.name = "id", .kind = RULE_STRING, .min = 1},
    {.name = "link", .kind = RULE_STRING, .min = 1},
    {.name = "caption", .kind = RULE_STRING, .max = 1024},
    END,
};

static const struct rule document_rules[] = {
    {.name = "id", .kind = RULE_STRING, .min = 1},
    {.name = "link", .kind = RULE_STRING, .min = 1},
    {.name = "caption", .kind = RULE_STRING, .max = 1024},
    {.name = "filename", .kind = RULE_STRING, .max = 240},
    END,
};

static const struct rule audio_rules[] = {
    {.name = "id", .kind = RULE_STRING, .min = 1},
    {.name = "link", .kind = RULE_STRING, .min = 1},
    {.name = "voice", .kind = RULE_FLAG},
    END,
};

static const struct rule sticker_rules[] = {
    {.name = "id", .kind = RULE_STRING, .min = 1},
    {.name = "link", .kind = RULE_STRING, .min = 1},
    END,
};

static const struct rule location_rules[] = {
    {.name = "latitude", .kind = RULE_SCALAR, .required = true, .min = 1},
    {.name = "longitude", .kind = RULE_SCALAR, .required = true, .min = 1},
    {.name = "name", .kind = RULE_STRING, .max = 1000},
    {.name = "address", .kind = RULE_STRING, .max = 1000},
    END,
};

static const struct rule reaction_rules[] = {
    {.name = "message_id", .kind = RULE_STRING, .required = true, .min = 1},
    {.name = "emoji", .kind = RULE_STRING, .required = true},
    END,
};

static const struct rule interactive_rules[] = {
    {.name = "type",
     .kind = RULE_STRING,
     .required = true,
     .choices = "button|list|product|product_list|catalog_message|carousel"},
    {.name = "action", .kind = RULE_OBJECT, .required = true},
    OPEN,
};

static const struct rule language_rules[] = {
    {.name = "code", .kind = RULE_STRING, .required = true, .min = 1},
    {.name = "policy", .kind = RULE_STRING, .choices = "deterministic"},
    END,
};

static const struct rule component_rules[] = {
    {.name = "type",
     .kind = RULE_STRING,
     .required = true,
     .choices = "header|body|button|carousel|limited_time_offer|HEADER|BODY|BUTTON|CAROUSEL|"
                "LIMITED_TIME_OFFER"},
    {.name = "parameters", .kind = RULE_LIST},
    {.name = "cards", .kind = RULE_LIST, .min = 2, .max = 10},
    OPEN,
};

static const struct rule template_rules[] = {
    {.name = "name", .kind = RULE_STRING, .required = true, .min = 1, .max = 512},
    {.name = "language", .kind = RULE_OBJECT, .required = true, .members = language_rules},
    {.name = "components", .kind = RULE_LIST, .members = component_rules},
    END,
};

static bool media_check(struct send *send, const cJSON *content) {
    return media_reference_check(send, send->type, content);
}

static bool coordinate_check(struct send *send, const cJSON *content, const char *name,
                             double limit) {
    const cJSON *value = json_get(content, name);
    char *end = NULL;
    double degrees = cJSON_IsNumber(value) ? value->valuedouble : strtod(value->valuestring, &end);
    if ((!end || *end == '\0') && fabs(degrees) <= limit)
        return true;
    reply_error_details(send->exchange, 131009, "location.%s is not within -%g to %g.", name, limit,
                        limit);
    return false;
}

static bool location_check(struct send *send, const cJSON *content) {
    return coordinate_check(send, content, "latitude", 90) &&
           coordinate_check(send, content, "longitude", 180);
}

static bool reaction_check(struct send *send, const cJSON *content) {
    if (strncmp(json_text(content, "message_id"), "wamid.", 6) == 0)
        return true;
    reply_error_details(send->exchange, 131009, "reaction.message_id is not a message id.");
    return false;
}

static bool contacts_check(struct send *send, const cJSON *content) {
    const cJSON *item;
    if (!cJSON_IsArray(content) || cJSON_GetArraySize(content) == 0) {
        reply_error(send->exchange, 100, "(#100) Param contacts must be a non-empty array.");
        return false;
    }
    cJSON_ArrayForEach(item, content) {
        const cJSON *name = json_get(item, "name");
        if (!json_text(name, "formatted_name")) {
            reply_error(send->exchange, 100,
                        "(#100) The parameter contacts['name']['formatted_name'] is required.");
            return false;
        }
    }
    return true;
}

const struct message_type message_types[] = {
    {"text", text_rules, NULL},
    {"image", captioned_rules, media_check},
    {"video", captioned_rules, media_check},
    {"audio", audio_rules, media_check},
    {"document", document_rules, media_check},
    {"sticker", sticker_rules, media_check},
    {"location", location_rules, location_check},
    {"contacts", NULL, contacts_check},
    {"interactive", interactive_rules, interactive_check},
    {"template", template_rules, template_check},
    {"reaction", reaction_rules, reaction_check},
    {NULL, NULL, NULL},
};
