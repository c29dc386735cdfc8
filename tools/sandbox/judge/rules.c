#include "judge/judge.h"

#include "text/json_fields.h"
#include "text/strict_json.h"
#include "text/text.h"
#include "wire/graph_error.h"

static bool check_string(struct exchange *exchange, const char *path, const cJSON *value,
                         const struct rule *rule) {
    size_t characters = text_characters(value->valuestring);
    if (rule->choices &&
        !slice_has_word(slice_of(rule->choices), '|', slice_of(value->valuestring))) {
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
    if (count < rule->min || (rule->max > 0 && count > rule->max)) {
        reply_error_details(exchange, 131009,
                            "Invalid count of %s. Min allowed: %zu, max allowed: %zu, given: %zu",
                            path, rule->min, rule->max, count);
        return false;
    }
    cJSON_ArrayForEach(item, list) {
        const char *item_path = arena_printf(exchange->arena, "%s[%zu]", path, index++);
        if (!cJSON_IsObject(item)) {
            reply_error(exchange, 100, "(#100) Param %s must be a JSON object.", item_path);
            return false;
        }
        if (rule->members && !rules_check(exchange, item_path, item, rule->members))
            return false;
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
    if (cJSON_IsString(value))
        return check_string(exchange, path, value, rule);
    if (rule->kind == RULE_LIST)
        return check_list(exchange, path, value, rule);
    if (rule->kind == RULE_OBJECT && rule->members)
        return rules_check(exchange, path, value, rule->members);
    return true;
}

/* Returns the rule for a member, or the rule that ends the table. */
static const struct rule *rule_find(const struct rule *rules, const char *name) {
    while (rules->name && strcmp(rules->name, RULE_OPEN) != 0 && strcmp(rules->name, name) != 0)
        rules++;
    return rules;
}

static bool check_unknown(struct exchange *exchange, const char *path, const cJSON *object,
                          const struct rule *rules) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        if (!rule_find(rules, item->string)->name) {
            reply_error(exchange, 100, "(#100) Unexpected key \"%.100s\" on param \"%s\".",
                        item->string, path);
            return false;
        }
    }
    return true;
}

static bool check_member(struct exchange *exchange, const char *path, const cJSON *value,
                         const struct rule *rule) {
    const char *member = arena_printf(exchange->arena, "%s['%s']", path, rule->name);
    if (value)
        return check_value(exchange, member, value, rule);
    if (rule->required)
        reply_error(exchange, 100, "(#100) The parameter %s is required.", member);
    return !rule->required;
}

bool rules_check(struct exchange *exchange, const char *path, const cJSON *object,
                 const struct rule *rules) {
    for (const struct rule *rule = rules; rule->name; rule++) {
        if (strcmp(rule->name, RULE_OPEN) == 0)
            return true;
        if (!check_member(exchange, path, json_get(object, rule->name), rule))
            return false;
    }
    return check_unknown(exchange, path, object, rules);
}

/* Returns the value of the text of a form's flag, or NULL. */
static cJSON *read_flag(const char *text) {
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0)
        return cJSON_CreateTrue();
    return strcmp(text, "false") == 0 || strcmp(text, "0") == 0 ? cJSON_CreateFalse() : NULL;
}

/* Returns the value that `text` holds, when it is of the wanted kind; else NULL. */
static cJSON *read_text(const char *text, enum rule_kind kind, bool form) {
    if (kind == RULE_FLAG)
        return form ? read_flag(text) : NULL;
    if (kind != RULE_OBJECT && kind != RULE_LIST && !(kind == RULE_NUMBER && form))
        return NULL;
    cJSON *value = json_parse(slice_of(text));
    if (value && kind_fits(value, kind))
        return value;
    cJSON_Delete(value);
    return NULL;
}

/* Replaces a string in `parent` by the value that it holds. Returns the item that is there now. */
static cJSON *settle_text(cJSON *parent, cJSON *item, enum rule_kind kind, bool form) {
    cJSON *value = cJSON_IsString(item) ? read_text(item->valuestring, kind, form) : NULL;
    if (!value)
        return item;
    if (cJSON_IsArray(parent))
        cJSON_ReplaceItemViaPointer(parent, item, value);
    else
        cJSON_ReplaceItemInObjectCaseSensitive(parent, item->string, value);
    return value;
}

static void settle_items(cJSON *list, const struct rule *members, bool form) {
    for (cJSON *item = list->child; item; item = item->next) {
        item = settle_text(list, item, RULE_OBJECT, form);
        if (members)
            rules_settle(item, members, form);
    }
}

static void settle_member(cJSON *object, cJSON *item, const struct rule *rule, bool form) {
    if (cJSON_IsNull(item)) {
        cJSON_DeleteItemFromObjectCaseSensitive(object, rule->name);
        return;
    }
    item = settle_text(object, item, rule->kind, form);
    if (rule->kind == RULE_LIST && cJSON_IsArray(item))
        settle_items(item, rule->members, form);
    else if (rule->kind == RULE_OBJECT && rule->members)
        rules_settle(item, rule->members, form);
}

void rules_settle(cJSON *object, const struct rule *rules, bool form) {
    for (; rules->name && strcmp(rules->name, RULE_OPEN) != 0; rules++) {
        cJSON *item = cJSON_GetObjectItemCaseSensitive(object, rules->name);
        if (item)
            settle_member(object, item, rules, form);
    }
}
