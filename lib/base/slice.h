/* A reference to bytes that other code owns: a pointer and a length, not NUL-terminated. */
#ifndef SWITCHBOARD_SLICE_H
#define SWITCHBOARD_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct slice {
    const char *p; /* NULL: no value, as opposed to an empty one */
    size_t n;
};

/* The bytes of a string literal. */
#define SLICE(literal) ((struct slice){(literal), sizeof(literal) - 1})

/* The bytes of the C string `s`; for NULL the empty slice with p == NULL. */
static inline struct slice slice_of(const char *s) {
    return (struct slice){s, s ? strlen(s) : 0};
}

/* Whether both hold the same bytes. */
static inline bool slice_equal(struct slice a, struct slice b) {
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Whether `a` is the word, in any case of its letters. */
static inline bool slice_is_word(struct slice a, const char *word) {
    return a.n == strlen(word) && (a.n == 0 || strncasecmp(a.p, word, a.n) == 0);
}

/* Whether `a` begins with the bytes of `prefix`. */
static inline bool slice_starts(struct slice a, struct slice prefix) {
    return a.n >= prefix.n && memcmp(a.p, prefix.p, prefix.n) == 0;
}

/* `a` without its first `n` bytes (at most all of them). */
static inline struct slice slice_skip(struct slice a, size_t n) {
    n = n < a.n ? n : a.n;
    return (struct slice){n ? a.p + n : a.p, a.n - n}; /* NULL + 0 is undefined */
}

/* Takes the bytes before the first `end` off the front of `*rest` and returns them; the `end` byte
 * itself is dropped. If there is no `end`, takes all of `*rest`. */
static inline struct slice slice_cut(struct slice *rest, char end) {
    const char *found = rest->n ? memchr(rest->p, end, rest->n) : NULL;
    struct slice head = {rest->p, found ? (size_t)(found - rest->p) : rest->n};
    *rest = slice_skip(*rest, found ? head.n + 1 : head.n);
    return head;
}

/* Whether `word` is one of the words of `list`, which stand with one `separator` between them. */
static inline bool slice_has_word(struct slice list, char separator, struct slice word) {
    while (list.n)
        if (slice_equal(slice_cut(&list, separator), word))
            return true;
    return false;
}

/* Moves up to `n` bytes from the front of `*rest` to `bytes`. Returns their number. */
static inline size_t slice_take(struct slice *rest, void *bytes, size_t n) {
    n = n < rest->n ? n : rest->n;
    if (n)
        memcpy(bytes, rest->p, n);
    *rest = slice_skip(*rest, n);
    return n;
}

/* `a` without the spaces and tabs at both ends (RFC 9110 5.6.3, OWS). */
static inline struct slice slice_trim(struct slice a) {
    while (a.n && (*a.p == ' ' || *a.p == '\t'))
        a.p++, a.n--;
    while (a.n && (a.p[a.n - 1] == ' ' || a.p[a.n - 1] == '\t'))
        a.n--;
    return a;
}

/* The bytes for libraries that do not accept a NULL pointer, even for no bytes. */
static inline const unsigned char *slice_octets(struct slice s) {
    return (const unsigned char *)(s.p ? s.p : "");
}

/* False: one of them is NULL, or they differ. */
static inline bool is_set_and_equal(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

/* True: both are NULL, or they are equal. */
static inline bool is_equal_or_both_null(const char *a, const char *b) {
    return a == b || is_set_and_equal(a, b);
}

#endif
