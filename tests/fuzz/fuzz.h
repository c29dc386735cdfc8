/* What every fuzz target needs: an arena per input, and an assertion that stops the fuzzer. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do                                                                                             \
        if (!(condition))                                                                          \
            __builtin_trap();                                                                      \
    while (0)

/* A heap copy of exactly the input, so that reading past its end is seen. */
static inline struct slice fuzz_copy(const uint8_t *data, size_t size) {
    char *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    return (struct slice){copy, size};
}

/* The same with a NUL behind it; bytes after an inner NUL are out of a C string's sight. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
    char *copy = malloc(size + 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

#endif
