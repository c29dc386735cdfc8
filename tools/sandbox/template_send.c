/* Checks a template send against the template's definition: whether it exists in that language, may
 * be sent to this recipient, and has the right parameters. */
#include "graph_error.h"
#include "messages.h"
#include "templates.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool text_is(const cJSON *object, const char *name, const char *want) {
    const char *text = json_text(object, name);

    return text != NULL && strcasecmp(text, want) == 0;
}

/* Finds the object of a list by its `type`, in upper or lower case. */
static const cJSON *find_type(const cJSON *list, const char *type) {
    const cJSON *item;

    cJSON_ArrayForEach(item, list) {
        if (text_is(item, "type", type)) {
            return item;
        }
    }
    return NULL;
}

/* Returns the number of distinct placeholders {{...}} in a definition's text. */
static int count_placeholders(const char *text) {
    cJSON *seen = cJSON_CreateObject();
    int count;

    while (text != NULL && (text = strstr(text, "{{")) != NULL) {
        const char *end = strstr(text + 2, "}}");
        char *name;

        if (end == NULL) {
            break;
        }
        name = memory_piece(text + 2, (size_t)(end - text - 2));
        if (!cJSON_HasObjectItem(seen, name)) {
            cJSON_AddTrueToObject(seen, name);
        }
        free(name);
        text = end + 2;
    }
    count = cJSON_GetArraySize(seen);
    cJSON_Delete(seen);
    return count;
}

static bool refuse_count(struct send *send, const char *where, int given, int expected) {
    reply_error_details(send->exchange, 132000,
                        "%s: number of localizable_params (%d) does not match the expected number "
                        "of params (%d)",
                        where, given, expected);
    return false;
}

static bool refuse_format(struct send *send, const char *where, const char *expected,
                          const char *received) {
    reply_error_details(send->exchange, 132012, "%s: Format mismatch, expected %s, received %s",
                        where, expected, received == NULL ? "UNKNOWN" : received);
    return false;
}

/* The member that a parameter of each type must have. */
static const struct {
    const char *type;
    const char *content;
    const char *needs; /* member of the content, or NULL: the content is a string */
} parameter_types[] = {
    {"text", "text", NULL},
    {"currency", "currency", "fallback_value"},
    {"date_time", "date_time", "fallback_value"},
    {"image", "image", ""},
    {"video", "video", ""},
    {"document", "document", ""},
    {"location", "location", "latitude"},
    {"product", "product", "product_retailer_id"},
    {"payload", "payload", NULL},
    {"coupon_code", "coupon_code", NULL},
    {"action", "action", ""},
    {"limited_time_offer", "limited_time_offer", "expiration_time_ms"},
};

static bool parameter_check(struct send *send, const char *where, const cJSON *parameter) {
    const char *type = json_text(parameter, "type");

    for (size_t i = 0; i < sizeof parameter_types / sizeof *parameter_types; i++) {
        const cJSON *content = member(parameter, parameter_types[i].content);
        const char *needs = parameter_types[i].needs;

        if (type == NULL || strcasecmp(type, parameter_types[i].type) != 0) {
            continue;
        }
        if (needs == NULL
                ? !cJSON_IsString(content)
                : !cJSON_IsObject(content) || (*needs != '\0' && member(content, needs) == NULL)) {
            reply_error_details(send->exchange, 131008,
                                "%s: the content of a %s parameter is "
                                "missing.",
                                where, type);
            return false;
        }
        return true;
    }
    reply_error_details(send->exchange, 132018, "%s: the type of a parameter is not valid.", where);
    return false;
}

static bool parameters_check(struct send *send, const char *where, const cJSON *parameters) {
    const cJSON *parameter;

    cJSON_ArrayForEach(parameter, parameters) {
        if (!parameter_check(send, where, parameter)) {
            return false;
        }
    }
    return true;
}

/* Checks that a text gets one parameter for each placeholder, with its name if placeholders have
 * names. */
static bool text_check(struct send *send, const char *where, const char *text,
                       const cJSON *parameters) {
    int expected = count_placeholders(text);
    int given = cJSON_GetArraySize(parameters);
    const cJSON *parameter;

    if (given != expected) {
        return refuse_count(send, where, given, expected);
    }
    cJSON_ArrayForEach(parameter, parameters) {
        const char *name = json_text(parameter, "parameter_name");
        const char *placeholder = strstr(text, "{{");
        bool named = !isdigit((unsigned char)placeholder[2]);
        char *wanted = memory_format("{{%s}}", name == NULL ? "" : name);
        bool found = strstr(text, wanted) != NULL;

        free(wanted);
        if (named && !found) {
            reply_error_details(send->exchange, 132018,
                                "%s: parameter_name '%s' is not in the "
                                "template.",
                                where, name == NULL ? "" : name);
            return false;
        }
    }
    return true;
}

static bool media_header_check(struct send *send, const char *format, const cJSON *parameters) {
    const cJSON *parameter = cJSON_GetArrayItem(parameters, 0);
    const char *type = json_text(parameter, "type");
    char *path;
    bool good;

    if (cJSON_GetArraySize(parameters) != 1) {
        return refuse_count(send, "header", cJSON_GetArraySize(parameters), 1);
    }
    if (type == NULL || strcasecmp(type, format) != 0) {
        return refuse_format(send, "header", format, type);
    }
    if (strcasecmp(type, "product") == 0 || strcasecmp(type, "location") == 0) {
        return true;
    }
    path = memory_format("template.components.header.%s", type);
    good = media_reference_check(send, path, member(parameter, type));
    free(path);
    return good;
}

static bool header_check(struct send *send, const cJSON *definition, const cJSON *parameters) {
    const char *format = json_text(definition, "format");

    if (format == NULL || strcasecmp(format, "TEXT") == 0) {
        return text_check(send, "header", json_text(definition, "text"), parameters);
    }
    return media_header_check(send, format, parameters);
}

/* Finds the component for the button at that index, which is a string or an integer. */
static const cJSON *find_button(const cJSON *components, int index) {
    const cJSON *component;

    cJSON_ArrayForEach(component, components) {
        const cJSON *given = member(component, "index");
        int number = cJSON_IsNumber(given)   ? given->valueint
                     : cJSON_IsString(given) ? (int)strtol(given->valuestring, NULL, 10)
                                             : -1;

        if (text_is(component, "type", "button") && number == index) {
            return component;
        }
    }
    return NULL;
}

/* True if a button of the definition needs a parameter in the send. */
static bool button_needs_parameter(const cJSON *button) {
    return (text_is(button, "type", "URL") && count_placeholders(json_text(button, "url")) > 0) ||
           text_is(button, "type", "COPY_CODE") || text_is(button, "type", "OTP") ||
           text_is(button, "type", "MPM");
}

static bool buttons_check(struct send *send, const cJSON *definition, const cJSON *components) {
    const cJSON *button;
    int index = 0;

    cJSON_ArrayForEach(button, member(definition, "buttons")) {
        const cJSON *parameters = member(find_button(components, index), "parameters");

        if (button_needs_parameter(button) && cJSON_GetArraySize(parameters) != 1) {
            reply_error_details(send->exchange, 131008,
                                "buttons: Button at index %d of type %s requires a parameter",
                                index, json_text(button, "type"));
            return false;
        }
        if (!parameters_check(send, "buttons", parameters)) {
            return false;
        }
        index++;
    }
    return true;
}

static bool components_check(struct send *send, const cJSON *definitions, const cJSON *components);

static bool carousel_check(struct send *send, const cJSON *definition, const cJSON *cards) {
    const cJSON *defined = member(definition, "cards");
    int expected = cJSON_GetArraySize(defined);

    if (cJSON_GetArraySize(cards) != expected) {
        return refuse_count(send, "carousel", cJSON_GetArraySize(cards), expected);
    }
    for (int i = 0; i < expected; i++) {
        if (!components_check(send, member(cJSON_GetArrayItem(defined, i), "components"),
                              member(cJSON_GetArrayItem(cards, i), "components"))) {
            return false;
        }
    }
    return true;
}

static bool component_check(struct send *send, const cJSON *definition, const cJSON *components) {
    const char *type = json_text(definition, "type");
    const cJSON *given = type == NULL ? NULL : find_type(components, type);
    const cJSON *parameters = member(given, "parameters");

    if (text_is(definition, "type", "BUTTONS")) {
        return buttons_check(send, definition, components);
    }
    if (text_is(definition, "type", "CAROUSEL")) {
        return carousel_check(send, definition, member(given, "cards"));
    }
    if (!parameters_check(send, type == NULL ? "component" : type, parameters)) {
        return false;
    }
    if (text_is(definition, "type", "HEADER")) {
        return header_check(send, definition, parameters);
    }
    if (text_is(definition, "type", "BODY")) {
        return text_check(send, "body", json_text(definition, "text"), parameters);
    }
    return true;
}

/* Checks that each given component is in the definition, and that each component of the definition
 * has its parameters. */
static bool components_check(struct send *send, const cJSON *definitions, const cJSON *components) {
    const cJSON *item;

    cJSON_ArrayForEach(item, components) {
        const char *type = json_text(item, "type");
        const char *wanted = text_is(item, "type", "button") ? "BUTTONS" : type;

        if (type == NULL || find_type(definitions, wanted) == NULL) {
            return refuse_count(send, type == NULL ? "component" : type,
                                cJSON_GetArraySize(member(item, "parameters")), 0);
        }
    }
    cJSON_ArrayForEach(item, definitions) {
        if (!component_check(send, item, components)) {
            return false;
        }
    }
    return true;
}

/* Returns the error code if the template's status or category forbids this send, else 0. */
static int template_obstacle(const struct send *send, const cJSON *definition) {
    static const struct {
        const char *status;
        int code;
    } statuses[] = {{"APPROVED", 0}, {"PAUSED", 132015}, {"DISABLED", 132016}};

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (text_is(definition, "status", statuses[i].status)) {
            bool secret = text_is(definition, "category", "AUTHENTICATION");

            return statuses[i].code == 0 && secret && send->to == NULL ? 131062 : statuses[i].code;
        }
    }
    return 132001;
}

bool template_check(struct send *send, const cJSON *content) {
    const char *name = json_text(content, "name");
    const char *language = json_text(member(content, "language"), "code");
    const struct item *item = template_find(send->account, name, language);
    cJSON *definition = item == NULL ? NULL : cJSON_ParseWithLength(item->raw, item->length);
    int obstacle = definition == NULL ? 132001 : template_obstacle(send, definition);
    bool good = false;

    if (obstacle == 132001) {
        reply_error_details(send->exchange, 132001, "template name (%s) does not exist in %s", name,
                            language);
    } else if (obstacle != 0) {
        reply_error_as(send->exchange, obstacle, 0, NULL, NULL);
    } else {
        good =
            components_check(send, member(definition, "components"), member(content, "components"));
        send->template_accepted = good;
    }
    cJSON_Delete(definition);
    return good;
}
