#include "judge/message_types.h"

#include <math.h>
#include <stdlib.h>

#include "judge/interactive.h"
#include "judge/media_reference.h"
#include "judge/template_send.h"
#include "text/json_fields.h"
#include "wire/graph_error.h"

#define END                                                                                        \
    { .name = NULL }
#define OPEN                                                                                       \
    { .name = RULE_OPEN }

enum { CONTACTS_MAX = 257 };

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

#define TEXT_RULE(member)                                                                          \
    { .name = member, .kind = RULE_STRING }

static const struct rule contact_name_rules[] = {
    {.name = "formatted_name", .kind = RULE_STRING, .required = true, .min = 1},
    TEXT_RULE("first_name"),
    TEXT_RULE("last_name"),
    TEXT_RULE("middle_name"),
    TEXT_RULE("suffix"),
    TEXT_RULE("prefix"),
    END,
};

static const struct rule contact_phone_rules[] = {
    TEXT_RULE("phone"),
    TEXT_RULE("type"),
    TEXT_RULE("wa_id"),
    END,
};

static const struct rule contact_email_rules[] = {TEXT_RULE("email"), TEXT_RULE("type"), END};
static const struct rule contact_url_rules[] = {TEXT_RULE("url"), TEXT_RULE("type"), END};

static const struct rule contact_address_rules[] = {
    TEXT_RULE("street"),  TEXT_RULE("city"),         TEXT_RULE("state"), TEXT_RULE("zip"),
    TEXT_RULE("country"), TEXT_RULE("country_code"), TEXT_RULE("type"),  END,
};

static const struct rule contact_org_rules[] = {
    TEXT_RULE("company"),
    TEXT_RULE("department"),
    TEXT_RULE("title"),
    END,
};

static const struct rule contact_rules[] = {
    {.name = "name", .kind = RULE_OBJECT, .required = true, .members = contact_name_rules},
    {.name = "phones", .kind = RULE_LIST, .members = contact_phone_rules},
    {.name = "emails", .kind = RULE_LIST, .members = contact_email_rules},
    {.name = "urls", .kind = RULE_LIST, .members = contact_url_rules},
    {.name = "addresses", .kind = RULE_LIST, .members = contact_address_rules},
    {.name = "org", .kind = RULE_OBJECT, .members = contact_org_rules},
    TEXT_RULE("birthday"),
    END,
};

/* The first card decides what a carousel is, so that its cards are read before. */
static const struct rule any_action[] = {
    {.name = "cards", .kind = RULE_LIST},
    OPEN,
};

static const struct rule interactive_rules[] = {
    {.name = "type",
     .kind = RULE_STRING,
     .required = true,
     .choices = "button|list|product|product_list|catalog_message|carousel|cta_url|"
                "flow|location_request_message|address_message|call_permission_request|"
                "request_contact_info|voice_call"},
    {.name = "action", .kind = RULE_OBJECT, .required = true, .members = any_action},
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

/* Whether the text has the form YYYY-MM-DD. */
static bool is_date(const char *text) {
    return strlen(text) == 10 && text[4] == '-' && text[7] == '-' &&
           strspn(text, "0123456789-") == 10 && strspn(text, "0123456789") == 4 &&
           strspn(text + 5, "0123456789") == 2 && strspn(text + 8, "0123456789") == 2;
}

static bool contact_check(struct send *send, const cJSON *contact, int index) {
    const char *path = arena_printf(send->exchange->arena, "contacts[%d]", index);
    const char *birthday = json_text(contact, "birthday");
    if (!cJSON_IsObject(contact)) {
        reply_error(send->exchange, 100, "(#100) Param %s must be a JSON object.", path);
        return false;
    }
    if (!rules_check(send->exchange, path, contact, contact_rules))
        return false;
    if (!birthday || is_date(birthday))
        return true;
    reply_error_details(send->exchange, 131009, "%s.birthday is not YYYY-MM-DD.", path);
    return false;
}

static bool contacts_check(struct send *send, const cJSON *content) {
    int count = cJSON_GetArraySize(content), index = 0;
    const cJSON *contact;
    if (!cJSON_IsArray(content) || count == 0) {
        reply_error(send->exchange, 100, "(#100) Param contacts must be a non-empty array.");
        return false;
    }
    if (count > CONTACTS_MAX) {
        reply_error_details(send->exchange, 131009, "More than %d contacts.", CONTACTS_MAX);
        return false;
    }
    cJSON_ArrayForEach(contact, content) {
        if (!contact_check(send, contact, index++))
            return false;
    }
    return true;
}

const struct message_type message_types[] = {
    {"text", text_rules, NULL, false},
    {"image", captioned_rules, media_check, false},
    {"video", captioned_rules, media_check, false},
    {"audio", audio_rules, media_check, false},
    {"document", document_rules, media_check, false},
    {"sticker", sticker_rules, media_check, false},
    {"location", location_rules, location_check, false},
    {"contacts", contact_rules, contacts_check, true},
    {"interactive", interactive_rules, interactive_check, false},
    {"template", template_rules, template_check, false},
    {"reaction", reaction_rules, reaction_check, false},
    {NULL, NULL, NULL, false},
};
