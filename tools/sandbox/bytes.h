/* Growable byte strings, and memory that is there or ends the program: the sandbox is a test tool,
 * so running out of memory is not something it recovers from. */
#ifndef SANDBOX_BYTES_H
#define SANDBOX_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `data` is NUL-terminated once anything was added; it may hold NULs itself. All zero is empty. */
struct bytes {
    char *data;
    size_t length;
    size_t capacity;
};

/* Adds length bytes, a NUL-terminated text, or a formatted text. */
void bytes_append(struct bytes *bytes, const void *data, size_t length);
void bytes_text(struct bytes *bytes, const char *text);
void bytes_format(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for length more bytes; returns where they are to be written. bytes_commit then adds them. */
char *bytes_room(struct bytes *bytes, size_t length);
void bytes_commit(struct bytes *bytes, size_t length);

/* Frees the content; the struct is empty and usable afterwards. */
void bytes_release(struct bytes *bytes);

/* The content as a heap string the caller frees ("" when empty); the struct is empty afterwards. */
char *bytes_take(struct bytes *bytes);

/* Zeroed memory, and copies of texts (NULL gives NULL). The caller frees. */
void *memory_new(size_t size);
char *memory_text(const char *text);
char *memory_piece(const char *text, size_t length);
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Lower-case hex of length bytes into out, which holds 2 * length + 1. */
void bytes_hex(char *out, const void *data, size_t length);

/* The digits of text, as a heap string the caller frees. */
char *text_digits(const char *text);

/* Characters (not bytes) of a UTF-8 text. */
size_t text_characters(const char *text);

/* True when needle is NULL or occurs in text; true when both are equal or want is NULL. */
bool text_contains(const char *text, const char *needle);
bool text_matches(const char *text, const char *want);

#endif
