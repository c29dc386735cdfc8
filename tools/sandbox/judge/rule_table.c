/* The rules in message_rules.json. The value of a member is
 *
 *   "KIND"          string, scalar (string or number), number, flag, object, list, any
 *   "KIND 1..20"    1 to 20 characters, or items of a list; "1.." has no upper limit
 *   "string a|b"    one of these texts
 *   {...}           an object with these members
 *   ["list ...", {...}]    a list of objects with these members
 *   "@NAME"         an object with the members of the rules NAME
 *
 * A name with `!` at its end is that of a required member; `...` at the end of an object allows
 * members that are not listed. What is not documented and yet sent by clients is an "object":
 * `parameters` of send_location and call_permission_request, by @kapso/whatsapp-cloud-api. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "judge/judge.h"
#include "text/json_fields.h"
#include "text/memory.h"

extern const char message_rules_json[];

static const char *const kinds[] = {
    [RULE_STRING] = "string", [RULE_SCALAR] = "scalar", [RULE_NUMBER] = "number",
    [RULE_FLAG] = "flag",     [RULE_OBJECT] = "object", [RULE_LIST] = "list",
    [RULE_ANY] = "any"};

static struct {
    struct arena *arena;
    cJSON *json;
    const struct rule *all; /* an object for each name of the file */
} table;

static void broken(const char *what) {
    fprintf(stderr, "switchboard-sandbox: message_rules.json: %s\n", what);
    abort();
}

static const struct rule *members_read(const cJSON *object);

static enum rule_kind kind_read(struct slice name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (slice_equal(slice_of(kinds[i]), name))
            return (enum rule_kind)i;
    broken("an unknown kind");
    return RULE_ANY;
}

/* Reads "KIND", "KIND MIN..MAX" or "KIND a|b". */
static void spec_read(struct rule *rule, const char *text) {
    struct slice rest = slice_of(text);
    rule->kind = kind_read(slice_cut(&rest, ' '));
    const char *dots = rest.n > 0 ? strstr(rest.p, "..") : NULL;
    if (dots) {
        rule->min = strtoul(rest.p, NULL, 10);
        rule->max = strtoul(dots + 2, NULL, 10);
    } else if (rest.n > 0) {
        rule->choices = rest.p;
    }
}

static void value_read(struct rule *rule, const cJSON *value) {
    const char *text = cJSON_GetStringValue(value);
    rule->kind = RULE_OBJECT;
    if (!value)
        broken("a name without rules");
    else if (cJSON_IsObject(value))
        rule->members = members_read(value);
    else if (cJSON_IsArray(value)) {
        spec_read(rule, cJSON_GetStringValue(value->child));
        rule->members = members_read(value->child->next);
    } else if (*text == '@') {
        value_read(rule, json_get(table.json, text + 1));
    } else if (*text != '\0') {
        spec_read(rule, text);
    }
}

static const struct rule *members_read(const cJSON *object) {
    size_t count = (size_t)cJSON_GetArraySize(object);
    struct rule *rules = arena_alloc(table.arena, (count + 1) * sizeof *rules), *rule = rules;
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        char *name = arena_copy(table.arena, slice_of(item->string));
        size_t length = strlen(name);
        rule->required = length > 0 && name[length - 1] == '!';
        name[length - rule->required] = '\0';
        rule->name = name;
        value_read(rule++, item);
    }
    return rules;
}

static void table_read(void) {
    table.arena = memory_open();
    table.json = cJSON_Parse(message_rules_json);
    table.all = members_read(table.json);
}

const struct rule *rules_find(const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, table_read);
    const struct rule *rule = table.all;
    while (rule->name && strcmp(rule->name, name) != 0)
        rule++;
    if (!rule->name)
        broken("a name without rules");
    return rule->members;
}
