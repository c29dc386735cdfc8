/* A growable byte buffer in an arena. After each append a NUL byte follows its bytes. */
#ifndef SWITCHBOARD_BUFFER_H
#define SWITCHBOARD_BUFFER_H

#include "base/arena.h"

struct buffer {
    struct arena *arena;
    char *p;
    size_t n;    /* bytes held */
    size_t room; /* bytes allocated, including the NUL byte */
};

/* Returns an empty buffer that allocates from `arena`. */
struct buffer buffer_in(struct arena *arena);

/* Allocates space for `more` further bytes and returns its address. The caller adds the number of
 * bytes that it writes there to `n`. */
char *buffer_reserve(struct buffer *buffer, size_t more);

/* Append bytes, a slice, a C string, a character, formatted text. */
void buffer_add(struct buffer *buffer, const void *bytes, size_t n);
void buffer_add_slice(struct buffer *buffer, struct slice slice);
void buffer_add_text(struct buffer *buffer, const char *text);
void buffer_add_char(struct buffer *buffer, char c);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the bytes, owned by the buffer; valid until the next append. */
struct slice buffer_slice(const struct buffer *buffer);

/* Returns them as an array of elements of this size, and sets the count of these. */
void *buffer_array(const struct buffer *buffer, size_t size, size_t *count);

#endif
