/* Checks that compare two values and print both on failure. The `_AS` forms print `label` instead
 * of the expression, for example to name the row of a table. */
#ifndef SWITCHBOARD_TEST_COMPARE_H
#define SWITCHBOARD_TEST_COMPARE_H

#include <inttypes.h>
#include <stdlib.h>

#include "base/slice.h"
#include "check.h"

static inline const char *or_nothing(const char *text) {
    return text ? text : "(nothing)";
}

static inline void compare_slices(const char *file, int line, const char *label,
                                  struct slice actual, struct slice expected) {
    bool is_equal = slice_equal(actual, expected) && !actual.p == !expected.p;
    check_at(file, line, is_equal, or_nothing(label), "expected %.*s, not %.*s", (int)expected.n,
             or_nothing(expected.p), (int)actual.n, or_nothing(actual.p));
}

static inline void compare_integers(const char *file, int line, const char *label, int64_t actual,
                                    int64_t expected) {
    check_at(file, line, actual == expected, or_nothing(label),
             "expected %" PRId64 ", not %" PRId64, expected, actual);
}

/* A NULL `text` fails. */
static inline void compare_part(const char *file, int line, const char *label, const char *text,
                                const char *part) {
    check_at(file, line, text && strstr(text, part), or_nothing(label), "expected ...%s..., not %s",
             part, or_nothing(text));
}

#define CHECK(condition) check(condition, "is false")

/* Both are C strings; either may be NULL. */
#define CHECK_TEXT(actual, expected) CHECK_TEXT_AS(#actual, actual, expected)
#define CHECK_TEXT_AS(label, actual, expected)                                                     \
    compare_slices(__FILE__, __LINE__, label, slice_of(actual), slice_of(expected))

#define CHECK_SLICE(actual, expected) CHECK_SLICE_AS(#actual, actual, expected)
#define CHECK_SLICE_AS(label, actual, expected)                                                    \
    compare_slices(__FILE__, __LINE__, label, actual, expected)

#define CHECK_INTEGER(actual, expected) CHECK_INTEGER_AS(#actual, actual, expected)
#define CHECK_INTEGER_AS(label, actual, expected)                                                  \
    compare_integers(__FILE__, __LINE__, label, (int64_t)(actual), expected)

/* Checks that `text` contains `part`. */
#define CHECK_HOLDS(text, part)           CHECK_HOLDS_AS(#text, text, part)
#define CHECK_HOLDS_AS(label, text, part) compare_part(__FILE__, __LINE__, label, text, part)

#endif
