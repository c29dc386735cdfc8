/* A growing run of bytes in an arena. Always NUL-terminated one byte past its end. */
#ifndef SWITCHBOARD_BUFFER_H
#define SWITCHBOARD_BUFFER_H

#include "base/arena.h"

struct buffer {
    struct arena *arena;
    char *p;
    size_t n;    /* bytes held */
    size_t room; /* bytes allocated, the terminator included */
};

/* An empty buffer whose bytes live in `arena`. */
struct buffer buffer_in(struct arena *arena);

/* Makes room for `more` further bytes and returns where they go; count them with `n`. */
char *buffer_reserve(struct buffer *buffer, size_t more);

/* Appends bytes, a slice, a C string, a character, formatted text. */
void buffer_add(struct buffer *buffer, const void *bytes, size_t n);
void buffer_add_slice(struct buffer *buffer, struct slice slice);
void buffer_add_text(struct buffer *buffer, const char *text);
void buffer_add_char(struct buffer *buffer, char c);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Its bytes; valid until the buffer grows again. */
struct slice buffer_slice(const struct buffer *buffer);

#endif
