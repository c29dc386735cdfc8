#include "rules.h"

#include "graph_error.h"

#include <stdlib.h>
#include <string.h>

static bool is_choice(const char *choices, const char *text) {
    size_t length = strlen(text);

    while (choices != NULL) {
        if (strncmp(choices, text, length) == 0 &&
            (choices[length] == '|' || choices[length] == '\0')) {
            return true;
        }
        choices = strchr(choices, '|');
        choices = choices == NULL ? NULL : choices + 1;
    }
    return false;
}

static bool check_string(struct exchange *exchange, const char *path, const cJSON *value,
                         const struct rule *rule) {
    size_t characters = text_characters(value->valuestring);

    if (rule->choices != NULL && !is_choice(rule->choices, value->valuestring)) {
        reply_error(exchange, 100, "(#100) Param %s must be one of {%s} - got \"%.100s\".", path,
                    rule->choices, value->valuestring);
        return false;
    }
    if (characters < rule->min) {
        reply_error(exchange, 100, "(#100) Param %s must be at least %zu characters long.", path,
                    rule->min);
        return false;
    }
    if (rule->max > 0 && characters > rule->max) {
        reply_error(exchange, 100, "(#100) Param %s must be at most %zu characters long.", path,
                    rule->max);
        return false;
    }
    return true;
}

static bool check_list(struct exchange *exchange, const char *path, const cJSON *list,
                       const struct rule *rule) {
    size_t count = (size_t)cJSON_GetArraySize(list);
    const cJSON *item;
    size_t index = 0;
    bool good = true;

    if (count < rule->min || (rule->max > 0 && count > rule->max)) {
        reply_error_details(exchange, 131009,
                            "Invalid count of %s. Min allowed: %zu, max allowed: %zu, given: %zu",
                            path, rule->min, rule->max, count);
        return false;
    }
    cJSON_ArrayForEach(item, list) {
        char *item_path = memory_format("%s[%zu]", path, index++);

        if (!cJSON_IsObject(item)) {
            reply_error(exchange, 100, "(#100) Param %s must be a JSON object.", item_path);
            good = false;
        } else if (rule->members != NULL) {
            good = rules_check(exchange, item_path, item, rule->members);
        }
        free(item_path);
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool kind_fits(const cJSON *value, enum rule_kind kind) {
    switch (kind) {
    case RULE_STRING: return cJSON_IsString(value);
    case RULE_SCALAR: return cJSON_IsString(value) || cJSON_IsNumber(value);
    case RULE_NUMBER: return cJSON_IsNumber(value);
    case RULE_FLAG: return cJSON_IsBool(value);
    case RULE_OBJECT: return cJSON_IsObject(value);
    case RULE_LIST: return cJSON_IsArray(value);
    case RULE_ANY: return true;
    }
    return false;
}

static bool check_value(struct exchange *exchange, const char *path, const cJSON *value,
                        const struct rule *rule) {
    static const char *const names[] = {"a string",  "a string or number", "a number",
                                        "a boolean", "a JSON object",      "an array",
                                        "anything"};

    if (!kind_fits(value, rule->kind)) {
        reply_error(exchange, 100, "(#100) Param %s must be %s.", path, names[rule->kind]);
        return false;
    }
    if (cJSON_IsString(value)) {
        return check_string(exchange, path, value, rule);
    }
    if (rule->kind == RULE_LIST) {
        return check_list(exchange, path, value, rule);
    }
    if (rule->kind == RULE_OBJECT && rule->members != NULL) {
        return rules_check(exchange, path, value, rule->members);
    }
    return true;
}

/* Returns the rule for a member, or the rule that ends the table. */
static const struct rule *rule_find(const struct rule *rules, const char *name) {
    while (rules->name != NULL && strcmp(rules->name, RULE_OPEN) != 0 &&
           strcmp(rules->name, name) != 0) {
        rules++;
    }
    return rules;
}

static bool check_unknown(struct exchange *exchange, const char *path, const cJSON *object,
                          const struct rule *rules) {
    const cJSON *item;

    cJSON_ArrayForEach(item, object) {
        if (rule_find(rules, item->string)->name == NULL) {
            reply_error(exchange, 100, "(#100) Unexpected key \"%.100s\" on param \"%s\".",
                        item->string, path);
            return false;
        }
    }
    return true;
}

bool rules_check(struct exchange *exchange, const char *path, const cJSON *object,
                 const struct rule *rules) {
    for (const struct rule *rule = rules; rule->name != NULL; rule++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, rule->name);
        char *member_path;
        bool good = true;

        if (strcmp(rule->name, RULE_OPEN) == 0) {
            return true;
        }
        member_path = memory_format("%s['%s']", path, rule->name);
        if (value != NULL) {
            good = check_value(exchange, member_path, value, rule);
        } else if (rule->required) {
            reply_error(exchange, 100, "(#100) The parameter %s is required.", member_path);
            good = false;
        }
        free(member_path);
        if (!good) {
            return false;
        }
    }
    return check_unknown(exchange, path, object, rules);
}
