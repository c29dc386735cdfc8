#include "base/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

struct buffer buffer_in(struct arena *arena) {
    return (struct buffer){.arena = arena};
}

char *buffer_reserve(struct buffer *buffer, size_t more) {
    size_t needed = more < SIZE_MAX / 2 ? buffer->n + more + 1 : SIZE_MAX;
    if (needed > buffer->room) {
        size_t room = buffer->room ? buffer->room * 2 : 256;
        if (room < needed)
            room = needed;
        buffer->p = arena_grow(buffer->arena, buffer->p, buffer->room, room);
        buffer->room = room;
    }
    return buffer->p + buffer->n;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t n) {
    char *end = buffer_reserve(buffer, n);
    if (n)
        memcpy(end, bytes, n);
    buffer->n += n;
    buffer->p[buffer->n] = '\0';
}

void buffer_add_slice(struct buffer *buffer, struct slice slice) {
    buffer_add(buffer, slice.p, slice.n);
}

void buffer_add_text(struct buffer *buffer, const char *text) {
    buffer_add(buffer, text, strlen(text));
}

void buffer_add_char(struct buffer *buffer, char c) {
    char *end = buffer_reserve(buffer, 1);
    end[0] = c;
    end[1] = '\0';
    buffer->n++;
}

/* Formats into the room that there is; only a longer text is formatted again. */
void buffer_printf(struct buffer *buffer, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char *end = buffer_reserve(buffer, 0);
    size_t room = buffer->room - buffer->n;
    int n = vsnprintf(end, room, format, args);
    va_end(args);
    if (n > 0 && (size_t)n >= room) {
        end = buffer_reserve(buffer, (size_t)n);
        vsnprintf(end, (size_t)n + 1, format, again);
    }
    if (n > 0)
        buffer->n += (size_t)n;
    va_end(again);
}

struct slice buffer_slice(const struct buffer *buffer) {
    return (struct slice){buffer->p ? buffer->p : "", buffer->n};
}

void *buffer_array(const struct buffer *buffer, size_t size, size_t *count) {
    *count = buffer->n / size;
    return buffer->p;
}
