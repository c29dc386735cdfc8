#include "payload/attachment.h"

const char *attachment_id(struct arena *arena, struct slice body) {
    static const char *const kinds[] = {"image", "video", "audio", "document", "sticker"};
    struct json message, id = {0};
    struct json_error error;
    if (!body.n || json_read(arena, body, &message, &error))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !json_is(id); i++)
        id = json_find(json_get(message, kinds[i]), "id");
    return json_text(id, arena);
}
