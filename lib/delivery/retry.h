/* The time of the next attempt after a failed one. The functions are pure: the caller passes the
 * time and the random number. */
#ifndef SWITCHBOARD_RETRY_H
#define SWITCHBOARD_RETRY_H

#include <stdbool.h>
#include <stdint.h>

enum { RETRY_ATTEMPTS = 10 }; /* after that many attempts an event is dead */

struct retry_failure {
    int attempts; /* made so far, including the failed one; at least 1 */
    int status;   /* HTTP status of the answer; 0: there was none */
    bool timed_out;
    const char *retry_after; /* the header's value; NULL: absent */
    int64_t now;             /* ms */
};

/* Sets `*next` to the time of the next attempt (ms), or returns false when the event has used all
 * its attempts. retry.c has the waits; `random`, any 32 bits, varies them. */
bool retry_schedule(const struct retry_failure *failure, uint32_t random, int64_t *next);

/* Reads a `Retry-After`: seconds or one of the three forms of an HTTP date (RFC 9110 10.2.3,
 * 5.6.7). Sets `*wait` to milliseconds from `now`, which is negative for a date in the past.
 * Returns false when the text is neither. */
bool retry_read_retry_after(const char *text, int64_t now, int64_t *wait);

#endif
