/* Time: integer milliseconds since 1970-01-01 UTC, formatted as ISO 8601. */
#ifndef SWITCHBOARD_CLOCK_H
#define SWITCHBOARD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_ISO8601_SIZE = 25 }; /* "2026-11-20T23:54:27.935Z" and its NUL */

/* Returns the current time: the system's, or that of the clock which clock_follow has set. */
int64_t clock_now(void);

/* Returns the time of the system's clock (CLOCK_REALTIME). */
int64_t clock_system(void);

/* Makes clock_now follow another clock, which showed `now` at the time `boot` of clock_boot. From
 * then on a change of the system's clock does not change clock_now. */
void clock_follow(int64_t now, int64_t boot);

/* Returns how far the system's clock is ahead of clock_now; 0: clock_now is the system's. */
int64_t clock_ahead(void);

/* Returns milliseconds of CLOCK_BOOTTIME, which counts suspensions of the machine too; a single
 * value has no meaning. */
int64_t clock_boot(void);

/* Returns milliseconds of CLOCK_MONOTONIC, for the measurement of intervals; a single value has no
 * meaning. */
int64_t clock_monotonic(void);

/* The same in microseconds. */
int64_t clock_monotonic_us(void);

/* Writes `ms` as ISO 8601 in UTC with milliseconds. Times outside of the years 0000 to 9999 are
 * clamped. */
void clock_format(int64_t ms, char text[CLOCK_ISO8601_SIZE]);

/* Parses YYYY-MM-DD, optionally followed by `T` or a space, hh:mm[:ss[.fraction]], and `Z` or an
 * offset +hh:mm or -hh:mm. A date alone means midnight UTC. Returns false when `text` has another
 * form. */
bool clock_parse(const char *text, int64_t *ms);

#endif
