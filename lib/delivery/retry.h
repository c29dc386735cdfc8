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
 * its attempts.
 *
 * The waits between the attempts are 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, each
 * varied by up to 20 % either way through `random` (any 32 bits). Where the receiver is
 * overloaded (429, 502, 503, 504, timeout) they are at least 60 s. A valid `Retry-After` replaces
 * the wait and is not varied; it is limited to the range from 60 s to the longer of one hour and
 * twice the wait. */
bool retry_schedule(const struct retry_failure *failure, uint32_t random, int64_t *next);

/* Reads a `Retry-After`: seconds or one of the three forms of an HTTP date (RFC 9110 10.2.3,
 * 5.6.7). Sets `*wait` to milliseconds from `now`, which is negative for a date in the past.
 * Returns false when the text is neither. */
bool retry_read_retry_after(const char *text, int64_t now, int64_t *wait);

#endif
