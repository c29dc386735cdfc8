#include "text/text.h"

const char *text_copy(struct arena *arena, const char *text) {
    return text ? arena_copy(arena, slice_of(text)) : NULL;
}

const char *text_digits(struct arena *arena, const char *text) {
    char *digits = arena_alloc(arena, strlen(text) + 1);
    size_t count = 0;
    for (; *text; text++)
        if (*text >= '0' && *text <= '9')
            digits[count++] = *text;
    return digits;
}

size_t text_characters(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += (*text & 0xC0) != 0x80;
    return count;
}

bool text_contains(const char *text, const char *needle) {
    return !needle || (text && strstr(text, needle) != NULL);
}

bool text_matches(const char *text, const char *want) {
    return !want || (text && strcmp(text, want) == 0);
}

void url_encode(struct buffer *out, const char *text) {
    for (; *text != '\0'; text++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", *text))
            buffer_add(out, text, 1);
        else
            buffer_printf(out, "%%%02X", (unsigned char)*text);
}
