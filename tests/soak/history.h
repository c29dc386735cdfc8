/* What happened, as those saw it who took part: files of lines with tabs between their fields,
 * which the checker reads afterwards. A line is one write(2), so any number of threads may write
 * one file. */
#ifndef SOAK_HISTORY_H
#define SOAK_HISTORY_H

#include <stdint.h>

#include "base/slice.h"

/* Opens DIR/NAME.tsv for appending and returns its descriptor; ends the process when it cannot. */
int history_open(const char *dir, const char *name);

/* Appends a line made as by printf; the newline is added. */
void history_line(int file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, and it is on disk when this returns. */
void history_durable_line(int file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes in hexadecimal, which the caller frees. */
char *history_hex(struct slice bytes);

/* Milliseconds since 1970. */
int64_t history_now(void);

void sleep_ms(int64_t ms);

/* Ends the process with a reason. */
_Noreturn void give_up(const char *what);

/* Numbers that only the seed decides. */
struct dice {
    uint64_t state;
};
struct dice dice_of(uint64_t seed, uint64_t stream);

/* From 0 to sides - 1. */
unsigned throw_dice(struct dice *dice, unsigned sides);

#endif
