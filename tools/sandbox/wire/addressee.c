#include "wire/addressee.h"

#include <ctype.h>

#include "text/json_fields.h"
#include "text/text.h"

bool is_bsuid(const char *text) {
    if (!text || !isupper((unsigned char)text[0]) || !isupper((unsigned char)text[1]) ||
        text[2] != '.')
        return false;
    text += strncmp(text + 3, "ENT.", 4) == 0 ? 7 : 3;
    size_t length = 0;
    while (isalnum((unsigned char)text[length]))
        length++;
    return length >= 1 && length <= 128 && text[length] == '\0';
}

bool send_is_for(struct arena *arena, const cJSON *body, const char *recipient) {
    const char *to = json_text(body, "to");
    const char *bsuid = json_text(body, "recipient");
    if (is_bsuid(recipient) || !to)
        return bsuid && strcmp(bsuid, recipient) == 0;
    return strcmp(text_digits(arena, recipient), text_digits(arena, to)) == 0;
}
