/* Time zones, from the files of the machine (tzdata): the times of a day, every day, as moments. */
#ifndef SWITCHBOARD_API_ZONE_H
#define SWITCHBOARD_API_ZONE_H

#include <stdint.h>

#include "base/slice.h"

/* Whether there is a time zone of this name, such as `Europe/Berlin`. */
bool zone_exists(struct slice name);

/* A part of each day, in minutes after midnight; with `to` <= `from` it ends the next day. */
struct zone_hours {
    const char *zone; /* zone_exists */
    int from, to;
};

struct zone_span {
    int64_t from, to; /* ms; `to` is not in it */
};

/* Writes the spans that end after `start` and begin within `days` times 24 hours of it, in their
 * order: the first one has begun before it, if it lies in one. A time that a change of the clock
 * skips is the moment of the change or an hour beside it. Returns their number, at most days + 1.
 */
size_t zone_spans(const struct zone_hours *hours, int64_t start, size_t days,
                  struct zone_span *spans);

#endif
