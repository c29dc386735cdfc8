#include "payload/attachment.h"

#include <strings.h>

static const char *const kinds[] = {"image", "video", "audio", "document", "sticker"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The id in the member that an object has for a kind of media. */
static struct json id_in(struct json object) {
    struct json id = {0};
    for (size_t i = 0; i < KINDS && !json_is(id); i++)
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

static bool is_file(struct json member) {
    bool is_named = false;
    for (size_t i = 0; i < KINDS && !is_named; i++)
        is_named = json_is_named(member, kinds[i]);
    return is_named;
}

/* Adds the ids within a value, the object of a file or another one; at most JSON_MAX_DEPTH calls
 * deep. An id may be a number, and of two members with one name the platform may take either. */
static void add_ids(struct arena *arena, struct json value, bool is_of_file, struct buffer *ids) {
    for (struct json part = json_first(value); json_is(part); part = json_next(part)) {
        if (is_of_file && json_is_named(part, "id")) {
            const char *id = json_type(part) == JSON_NUMBER ? arena_copy(arena, json_raw(part))
                                                            : json_text(part, arena);
            if (id)
                buffer_add(ids, &id, sizeof id);
        }
        add_ids(arena, part, is_file(part), ids);
    }
}

size_t attachment_ids(struct arena *arena, struct slice body, const char *const **ids) {
    struct json message;
    struct json_error error;
    struct buffer found = buffer_in(arena);
    if (json_read(arena, body, &message, &error) == 0)
        add_ids(arena, message, false, &found);
    *ids = (const char *const *)(const void *)found.p;
    return found.n / sizeof **ids;
}
