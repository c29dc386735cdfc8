/* Growable byte strings, and memory allocation that ends the program on failure: the sandbox is a
 * test tool and does not recover from a lack of memory. */
#ifndef SANDBOX_BYTES_H
#define SANDBOX_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A byte string. All zero is empty. After the first addition `data` is NUL-terminated; the content
 * may hold NULs too. */
struct bytes {
    char *data;
    size_t length;
    size_t capacity;
};

/* Appends length bytes, a NUL-terminated text, or a formatted text. */
void bytes_append(struct bytes *bytes, const void *data, size_t length);
void bytes_text(struct bytes *bytes, const char *text);
void bytes_format(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for length more bytes and returns their address. After they are written, bytes_commit
 * appends them. */
char *bytes_room(struct bytes *bytes, size_t length);
void bytes_commit(struct bytes *bytes, size_t length);

/* Frees the content; the struct is empty and usable afterwards. */
void bytes_release(struct bytes *bytes);

/* Returns the content as a heap string ("" if empty), which the caller frees. The struct is empty
 * afterwards. */
char *bytes_take(struct bytes *bytes);

/* Return zeroed memory, a copy of a text (NULL for NULL), or a formatted text. The caller frees
 * them. */
void *memory_new(size_t size);
char *memory_text(const char *text);
char *memory_piece(const char *text, size_t length);
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes length bytes in lower-case hexadecimal to out, which has 2 * length + 1 bytes. */
void bytes_hex(char *out, const void *data, size_t length);

/* Returns the digits of text as a heap string, which the caller frees. */
char *text_digits(const char *text);

/* The number of characters (not bytes) of a UTF-8 text. */
size_t text_characters(const char *text);

/* text_contains: true if needle is NULL or occurs in text. text_matches: true if want is NULL or
 * equals text. */
bool text_contains(const char *text, const char *needle);
bool text_matches(const char *text, const char *want);

#endif
