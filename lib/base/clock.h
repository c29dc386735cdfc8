/* Time: integer milliseconds since 1970-01-01 UTC, shown as ISO 8601. */
#ifndef SWITCHBOARD_CLOCK_H
#define SWITCHBOARD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_ISO8601_SIZE = 25 }; /* "2026-11-20T23:54:27.935Z" and its NUL */

/* Now, by the wall clock. */
int64_t clock_now(void);

/* Milliseconds of a clock that never jumps; only differences mean something. */
int64_t clock_monotonic(void);

/* Writes `ms` as ISO 8601 in UTC with milliseconds; years 0000 to 9999, others are clamped. */
void clock_format(int64_t ms, char text[CLOCK_ISO8601_SIZE]);

/* Reads YYYY-MM-DD, or that with Thh:mm[:ss[.fraction]] and Z or a +hh:mm offset. A date alone is
 * its midnight in UTC. Returns false when `text` is anything else. */
bool clock_parse(const char *text, int64_t *ms);

#endif
