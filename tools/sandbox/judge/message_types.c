#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>

#include "text/json_fields.h"
#include "wire/graph_error.h"

enum { CONTACTS_MAX = 257 };

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
    if (!rules_check(send->exchange, path, contact, rules_find("contacts")))
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
    {"text", NULL, false},
    {"image", media_check, false},
    {"video", media_check, false},
    {"audio", media_check, false},
    {"document", media_check, false},
    {"sticker", media_check, false},
    {"location", location_check, false},
    {"contacts", contacts_check, true},
    {"interactive", interactive_check, false},
    {"template", template_check, false},
    {"reaction", reaction_check, false},
    {NULL, NULL, false},
};
