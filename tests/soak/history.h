/* The history of a soak: files of lines with tab-separated fields, which the checker reads
 * afterwards. A line is one write(2), so that any number of threads may write to one file. */
#ifndef SOAK_HISTORY_H
#define SOAK_HISTORY_H

#include <stdint.h>

#include "base/slice.h"

/* Opens DIR/NAME.tsv for appending and returns the descriptor; ends the process on an error. */
int history_open(const char *dir, const char *name);

/* Appends a line, formatted as by printf(3), and a newline. */
void history_line(int file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same; the line is on the disk when it returns. */
void history_durable_line(int file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The bytes in hexadecimal; the caller frees the text. */
char *history_hex(struct slice bytes);

/* The time in ms since 1970. */
int64_t history_now(void);

void sleep_ms(int64_t ms);

/* Prints `what` and errno, and ends the process. */
_Noreturn void give_up(const char *what);

/* A random number generator that depends on the seed alone. */
struct dice {
    uint64_t state;
};
struct dice dice_of(uint64_t seed, uint64_t stream);

/* A random number from 0 to sides - 1. */
unsigned throw_dice(struct dice *dice, unsigned sides);

#endif
