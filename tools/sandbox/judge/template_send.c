#include "judge/judge.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "judge/placeholder.h"
#include "state/template_list.h"
#include "text/json_fields.h"
#include "wire/graph_error.h"

static bool text_is(const cJSON *object, const char *name, const char *want) {
    const char *text = json_text(object, name);
    return text && strcasecmp(text, want) == 0;
}

/* Finds the object of a list by its `type`, in upper or lower case. */
static const cJSON *find_type(const cJSON *list, const char *type) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (text_is(item, "type", type))
            return item;
    }
    return NULL;
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
                        where, expected, received ? received : "UNKNOWN");
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
        const cJSON *content = json_get(parameter, parameter_types[i].content);
        const char *needs = parameter_types[i].needs;
        if (!type || strcasecmp(type, parameter_types[i].type) != 0)
            continue;
        if (!needs ? !cJSON_IsString(content)
                   : !cJSON_IsObject(content) || (*needs != '\0' && !json_get(content, needs))) {
            reply_error_details(send->exchange, 131008,
                                "%s: the content of a %s parameter is missing.", where, type);
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
        if (!parameter_check(send, where, parameter))
            return false;
    }
    return true;
}

/* Checks that a text gets one parameter for each placeholder, with its name if placeholders have
 * names. */
static bool text_check(struct send *send, const char *where, const char *text,
                       const cJSON *parameters) {
    int expected = placeholder_count(text);
    int given = cJSON_GetArraySize(parameters);
    const cJSON *parameter;
    if (given != expected)
        return refuse_count(send, where, given, expected);
    cJSON_ArrayForEach(parameter, parameters) {
        const char *name = json_text(parameter, "parameter_name");
        const char *placeholder = strstr(text, "{{");
        bool named = !isdigit((unsigned char)placeholder[2]);
        const char *wanted = arena_printf(send->exchange->arena, "{{%s}}", name ? name : "");
        if (named && !strstr(text, wanted)) {
            reply_error_details(send->exchange, 132018,
                                "%s: parameter_name '%s' is not in the template.", where,
                                name ? name : "");
            return false;
        }
    }
    return true;
}

static bool media_header_check(struct send *send, const char *format, const cJSON *parameters) {
    const cJSON *parameter = cJSON_GetArrayItem(parameters, 0);
    const char *type = json_text(parameter, "type");
    if (cJSON_GetArraySize(parameters) != 1)
        return refuse_count(send, "header", cJSON_GetArraySize(parameters), 1);
    if (!type || strcasecmp(type, format) != 0)
        return refuse_format(send, "header", format, type);
    if (strcasecmp(type, "product") == 0 || strcasecmp(type, "location") == 0)
        return true;
    const char *path = arena_printf(send->exchange->arena, "template.components.header.%s", type);
    return media_reference_check(send, path, json_get(parameter, type));
}

static bool header_check(struct send *send, const cJSON *definition, const cJSON *parameters) {
    const char *format = json_text(definition, "format");
    if (!format || strcasecmp(format, "TEXT") == 0)
        return text_check(send, "header", json_text(definition, "text"), parameters);
    return media_header_check(send, format, parameters);
}

/* Finds the component for the button at that index, which is a string or an integer. */
static const cJSON *find_button(const cJSON *components, int index) {
    const cJSON *component;
    cJSON_ArrayForEach(component, components) {
        const cJSON *given = json_get(component, "index");
        int number = cJSON_IsNumber(given)   ? given->valueint
                     : cJSON_IsString(given) ? (int)strtol(given->valuestring, NULL, 10)
                                             : -1;
        if (text_is(component, "type", "button") && number == index)
            return component;
    }
    return NULL;
}

/* True if a button of the definition needs a parameter in the send. */
static bool button_needs_parameter(const cJSON *button) {
    return (text_is(button, "type", "URL") && placeholder_count(json_text(button, "url")) > 0) ||
           text_is(button, "type", "COPY_CODE") || text_is(button, "type", "OTP") ||
           text_is(button, "type", "MPM");
}

static bool buttons_check(struct send *send, const cJSON *definition, const cJSON *components) {
    const cJSON *button;
    int index = 0;
    cJSON_ArrayForEach(button, json_get(definition, "buttons")) {
        const cJSON *parameters = json_get(find_button(components, index), "parameters");
        if (button_needs_parameter(button) && cJSON_GetArraySize(parameters) != 1) {
            reply_error_details(send->exchange, 131008,
                                "buttons: Button at index %d of type %s requires a parameter",
                                index, json_text(button, "type"));
            return false;
        }
        if (!parameters_check(send, "buttons", parameters))
            return false;
        index++;
    }
    return true;
}

static bool components_check(struct send *send, const cJSON *definitions, const cJSON *components);

static bool carousel_check(struct send *send, const cJSON *definition, const cJSON *cards) {
    const cJSON *defined = json_get(definition, "cards");
    int expected = cJSON_GetArraySize(defined);
    if (cJSON_GetArraySize(cards) != expected)
        return refuse_count(send, "carousel", cJSON_GetArraySize(cards), expected);
    for (int i = 0; i < expected; i++)
        if (!components_check(send, json_get(cJSON_GetArrayItem(defined, i), "components"),
                              json_get(cJSON_GetArrayItem(cards, i), "components")))
            return false;
    return true;
}

static bool component_check(struct send *send, const cJSON *definition, const cJSON *components) {
    const char *type = json_text(definition, "type");
    const cJSON *given = type ? find_type(components, type) : NULL;
    const cJSON *parameters = json_get(given, "parameters");
    if (text_is(definition, "type", "BUTTONS"))
        return buttons_check(send, definition, components);
    if (text_is(definition, "type", "CAROUSEL"))
        return carousel_check(send, definition, json_get(given, "cards"));
    if (!parameters_check(send, type ? type : "component", parameters))
        return false;
    if (text_is(definition, "type", "HEADER"))
        return header_check(send, definition, parameters);
    if (text_is(definition, "type", "BODY"))
        return text_check(send, "body", json_text(definition, "text"), parameters);
    return true;
}

/* Checks that each given component is in the definition, and that each component of the definition
 * has its parameters. */
static bool components_check(struct send *send, const cJSON *definitions, const cJSON *components) {
    const cJSON *item;
    cJSON_ArrayForEach(item, components) {
        const char *type = json_text(item, "type");
        const char *wanted = text_is(item, "type", "button") ? "BUTTONS" : type;
        if (!type || !find_type(definitions, wanted)) {
            return refuse_count(send, type ? type : "component",
                                cJSON_GetArraySize(json_get(item, "parameters")), 0);
        }
    }
    cJSON_ArrayForEach(item, definitions) {
        if (!component_check(send, item, components))
            return false;
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
            if (send->is_marketing && !text_is(definition, "category", "MARKETING"))
                return 134100;
            return statuses[i].code == 0 && secret && !send->to ? 131062 : statuses[i].code;
        }
    }
    return 132001;
}

bool template_check(struct send *send, const cJSON *content) {
    const char *name = json_text(content, "name");
    const char *language = json_text(json_get(content, "language"), "code");
    const struct item *item = template_find(send->exchange->arena, send->account, name, language);
    cJSON *definition = item ? cJSON_ParseWithLength(item->raw.p, item->raw.n) : NULL;
    int obstacle = definition ? template_obstacle(send, definition) : 132001;
    bool good = false;
    if (obstacle == 132001) {
        reply_error_details(send->exchange, 132001, "template name (%s) does not exist in %s", name,
                            language);
    } else if (obstacle != 0) {
        reply_error_as(send->exchange, obstacle, 0, NULL, NULL);
    } else {
        good = components_check(send, json_get(definition, "components"),
                                json_get(content, "components"));
        send->template_accepted = good;
        send->is_of_marketing = text_is(definition, "category", "MARKETING");
    }
    cJSON_Delete(definition);
    return good;
}
