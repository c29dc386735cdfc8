#include "webhooks/webhook_template.h"

#include <stdlib.h>

#include "wire/graph_error.h"

/* Returns the text with its ${...} replaced; NULL when it is only a variable that is not set. */
static const char *fill_text(const struct update *update, const char *text) {
    struct buffer out = buffer_in(update->arena);
    const char *at = text;
    const char *open;
    while ((open = strstr(at, "${"))) {
        struct slice rest = slice_of(open + 2);
        struct slice name = slice_cut(&rest, '}');
        const char *value = update_variable(update, name);
        if (!value && open == text && rest.n == 0)
            return NULL;
        buffer_add(&out, at, (size_t)(open - at));
        buffer_add_text(&out, value ? value : "");
        at = rest.p;
    }
    buffer_add_text(&out, at);
    return out.p;
}

static cJSON *error_object(const struct update *update) {
    struct buffer text = buffer_in(update->arena);
    graph_error_webhook(&text, (int)update->code);
    return cJSON_ParseWithLength(text.p, text.n);
}

/* Returns the number in the variable of `#{x}`; NULL when it is not set. */
static cJSON *fill_number(const struct update *update, const char *text) {
    const char *number = update_variable(update, (struct slice){text + 2, strlen(text) - 3});
    return number ? cJSON_CreateNumber(strtod(number, NULL)) : NULL;
}

/* Returns the value for a string of the template; NULL when its member is to be left out. */
static cJSON *fill_string(const struct update *update, const char *text) {
    if (strcmp(text, "@error") == 0)
        return error_object(update);
    if (strncmp(text, "#{", 2) == 0)
        return fill_number(update, text);
    const char *filled = fill_text(update, text);
    return filled ? cJSON_CreateString(filled) : NULL;
}

/* Returns a copy of the template with all variables replaced. */
static cJSON *fill_tree(const struct update *update, const cJSON *tree) {
    cJSON *copy;
    const cJSON *item;
    if (cJSON_IsString(tree))
        return fill_string(update, tree->valuestring);
    if (!cJSON_IsObject(tree) && !cJSON_IsArray(tree))
        return cJSON_Duplicate(tree, true);
    copy = cJSON_IsObject(tree) ? cJSON_CreateObject() : cJSON_CreateArray();
    cJSON_ArrayForEach(item, tree) {
        cJSON *filled = fill_tree(update, item);
        if (!filled)
            continue;
        if (cJSON_IsObject(tree))
            cJSON_AddItemToObject(copy, item->string, filled);
        else
            cJSON_AddItemToArray(copy, filled);
    }
    return copy;
}

cJSON *webhook_template_fill(const struct update *update, const char *template) {
    char *text = arena_copy(update->arena, slice_of(template));
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    cJSON *tree = cJSON_Parse(text);
    cJSON *filled = fill_tree(update, tree);
    cJSON_Delete(tree);
    return filled;
}
