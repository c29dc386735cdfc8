/* Checks for unit tests. A failed check is printed with its file and line, and the program
 * continues: main returns check_failures(). */
#ifndef SWITCHBOARD_TEST_CHECK_H
#define SWITCHBOARD_TEST_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_count, check_failed;

/* check(CONDITION, FORMAT...): the printf text describes the checked value or case. */
#define check(condition, ...) check_at(__FILE__, __LINE__, condition, #condition, __VA_ARGS__)

#define check_at(file, line, condition, source, ...)                                               \
    do {                                                                                           \
        check_count++;                                                                             \
        if (!(condition)) {                                                                        \
            check_failed++;                                                                        \
            printf("%s:%d: %s: ", file, line, source);                                             \
            printf(__VA_ARGS__);                                                                   \
            putchar('\n');                                                                         \
        }                                                                                          \
    } while (0)

/* Prints the counts and returns the exit status: 1 if a check failed or there was none. */
static inline int check_failures(void) {
    printf("%d checks, %d failed\n", check_count, check_failed);
    return check_failed != 0 || check_count == 0;
}

#endif
