#include "bytes.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *memory_check(void *memory) {
    if (memory == NULL) {
        fputs("graph-sandbox: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *memory_new(size_t size) {
    return memory_check(calloc(1, size));
}

char *memory_text(const char *text) {
    return text == NULL ? NULL : memory_check(strdup(text));
}

char *memory_piece(const char *text, size_t length) {
    char *copy = memory_new(length + 1);

    memcpy(copy, text, length);
    return copy;
}

char *memory_format(const char *format, ...) {
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
    }
    va_end(arguments);
    return memory_check(text);
}

char *bytes_room(struct bytes *bytes, size_t length) {
    size_t need = bytes->length + length + 1;

    if (need > bytes->capacity) {
        size_t capacity = bytes->capacity < 64 ? 64 : bytes->capacity;

        while (capacity < need) {
            capacity *= 2;
        }
        bytes->data = memory_check(realloc(bytes->data, capacity));
        bytes->capacity = capacity;
    }
    return bytes->data + bytes->length;
}

void bytes_commit(struct bytes *bytes, size_t length) {
    bytes->length += length;
    bytes->data[bytes->length] = '\0';
}

void bytes_append(struct bytes *bytes, const void *data, size_t length) {
    char *room = bytes_room(bytes, length);

    if (length > 0) {
        memcpy(room, data, length);
    }
    bytes_commit(bytes, length);
}

void bytes_text(struct bytes *bytes, const char *text) {
    bytes_append(bytes, text, strlen(text));
}

void bytes_format(struct bytes *bytes, const char *format, ...) {
    va_list arguments;
    va_list again;
    int length;

    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        char *room = bytes_room(bytes, (size_t)length);

        vsnprintf(room, (size_t)length + 1, format, again);
        bytes_commit(bytes, (size_t)length);
    }
    va_end(again);
}

void bytes_release(struct bytes *bytes) {
    free(bytes->data);
    memset(bytes, 0, sizeof *bytes);
}

char *bytes_take(struct bytes *bytes) {
    char *data = bytes->data != NULL ? bytes->data : memory_text("");

    memset(bytes, 0, sizeof *bytes);
    return data;
}

void bytes_hex(char *out, const void *data, size_t length) {
    sodium_bin2hex(out, 2 * length + 1, data, length);
}

char *text_digits(const char *text) {
    char *digits = memory_new(strlen(text) + 1);
    size_t count = 0;

    for (; *text != '\0'; text++) {
        if (*text >= '0' && *text <= '9') {
            digits[count++] = *text;
        }
    }
    return digits;
}

size_t text_characters(const char *text) {
    size_t count = 0;

    for (; *text != '\0'; text++) {
        count += (*text & 0xC0) != 0x80;
    }
    return count;
}

bool text_contains(const char *text, const char *needle) {
    return needle == NULL || (text != NULL && strstr(text, needle) != NULL);
}

bool text_matches(const char *text, const char *want) {
    return want == NULL || (text != NULL && strcmp(text, want) == 0);
}
