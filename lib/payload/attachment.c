#include "payload/attachment.h"

#include <strings.h>

/* The id in the member that an object has for a kind of media. */
static struct json id_in(struct json object) {
    static const char *const kinds[] = {"image", "video", "audio", "document", "sticker"};
    struct json id = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !json_is(id); i++)
        id = json_find(json_get(object, kinds[i]), "id");
    return id;
}

/* The id in the header of a template: its only parameter. */
static struct json id_in_template(struct json template, struct arena *arena) {
    struct json part = json_first(json_get(template, "components")), id = {0};
    for (; json_is(part) && !json_is(id); part = json_next(part)) {
        const char *type = json_text(json_get(part, "type"), arena);
        if (type && strcasecmp(type, "header") == 0)
            id = id_in(json_first(json_get(part, "parameters")));
    }
    return id;
}

const char *attachment_id(struct arena *arena, struct slice body) {
    struct json message;
    struct json_error error;
    if (!body.n || json_read(arena, body, &message, &error))
        return NULL;
    struct json id = id_in(message);
    if (!json_is(id))
        id = id_in(json_find(message, "interactive.header"));
    if (!json_is(id))
        id = id_in_template(json_get(message, "template"), arena);
    return json_text(id, arena);
}
