#include "webhooks/webhook_kinds.h"

#include <pthread.h>

#include "text/json_fields.h"
#include "text/memory.h"

extern const char webhook_kinds_json[];

static struct {
    cJSON *json;
    struct webhook_kind *all; /* ended by a NULL name */
} kinds;

static struct webhook_kind kind_read(const cJSON *json) {
    const char *field = json_text(json, "field"), *list = json_text(json, "list");
    const char *contact = json_text(json, "contact");
    return (struct webhook_kind){
        .name = json_text(json, "kind"),
        .field = field ? field : "messages",
        .list = field || list ? list : "messages",
        .media = json_text(json, "media"),
        .element = json_get(json, "element"),
        .contact = contact ? json_get(json_get(kinds.json, "contacts"), contact) : NULL,
        .value = json_get(json, "value"),
    };
}

static void kinds_read(void) {
    kinds.json = cJSON_Parse(webhook_kinds_json);
    const cJSON *list = json_get(kinds.json, "kinds"), *item;
    struct webhook_kind *kind = memory_block(((size_t)cJSON_GetArraySize(list) + 1) * sizeof *kind);
    kinds.all = kind;
    cJSON_ArrayForEach(item, list) {
        *kind++ = kind_read(item);
    }
}

static const struct webhook_kind *kinds_all(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, kinds_read);
    return kinds.all;
}

const struct webhook_kind *webhook_kind_find(const char *name) {
    for (const struct webhook_kind *kind = kinds_all(); kind->name; kind++)
        if (name && strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

const cJSON *webhook_part(const char *name) {
    return json_get(json_get(kinds.json, "parts"), name);
}

const cJSON *webhook_value(void) {
    return json_get(kinds.json, "value");
}

void webhook_kinds_list(struct buffer *out) {
    buffer_add_text(out, "[");
    for (const struct webhook_kind *kind = kinds_all(); kind->name; kind++)
        buffer_printf(out, "%s{\"kind\":\"%s\",\"field\":\"%s\"}", kind == kinds.all ? "" : ",",
                      kind->name, kind->field);
    buffer_add_text(out, "]");
}
