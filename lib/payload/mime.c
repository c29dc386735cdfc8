#include "payload/mime.h"

#include <ctype.h>

#include "base/header.h"

enum { LONGEST_TYPE = 255 };

static const struct {
    const char *type, *extension;
} known[] = {
    {"audio/aac", ".aac"},
    {"audio/amr", ".amr"},
    {"audio/mp4", ".m4a"},
    {"audio/mpeg", ".mp3"},
    {"audio/ogg", ".ogg"},
    {"audio/opus", ".opus"},
    {"application/msword", ".doc"},
    {"application/pdf", ".pdf"},
    {"application/vnd.ms-excel", ".xls"},
    {"application/vnd.ms-powerpoint", ".ppt"},
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"},
    {"application/zip", ".zip"},
    {"image/gif", ".gif"},
    {"image/jpeg", ".jpg"}, /* the first extension of a type names downloads */
    {"image/jpeg", ".jpeg"},
    {"image/png", ".png"},
    {"image/webp", ".webp"},
    {"text/csv", ".csv"},
    {"text/plain", ".txt"},
    {"video/3gpp", ".3gp"},
    {"video/mp4", ".mp4"},
};

enum { KNOWN = sizeof known / sizeof *known };

const char *mime_read(struct arena *arena, const char *text) {
    struct slice rest = slice_of(text);
    struct slice type = slice_trim(slice_cut(&rest, ';'));
    if (!type.n || type.n > LONGEST_TYPE || !memchr(type.p, '/', type.n))
        return NULL;
    char *copy = arena_copy(arena, type);
    struct slice subtype = {copy, type.n}, main_type = slice_cut(&subtype, '/');
    if (!header_is_token(main_type) || !header_is_token(subtype))
        return NULL;
    for (char *p = copy; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return copy;
}

bool mime_is_generic(const char *type) {
    static const char *const generic[] = {"application/octet-stream", "binary/octet-stream",
                                          "application/x-www-form-urlencoded"};
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++)
        if (strcmp(type, generic[i]) == 0)
            return true;
    return false;
}

const char *mime_extension(const char *type) {
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].type, type) == 0)
            return known[i].extension;
    return "";
}

const char *mime_of_name(const char *name) {
    const char *extension = strrchr(name, '.');
    for (size_t i = 0; extension && i < KNOWN; i++)
        if (strcasecmp(known[i].extension, extension) == 0)
            return known[i].type;
    return NULL;
}
