/* Shared by all fuzz targets: an assertion that stops the fuzzer, and copies of the input. */
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

/* A heap copy of exactly the input, so that a sanitizer detects a read past its end. The caller
 * frees it. */
static inline struct slice fuzz_copy(const uint8_t *data, size_t size) {
    char *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    return (struct slice){copy, size};
}

/* The same with a terminating NUL. A C string ends at an inner NUL. */
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
