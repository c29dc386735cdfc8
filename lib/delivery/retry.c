/* The wait before the next attempt:
 *
 *     a valid `Retry-After`         what it says, but at least 60 s, and at most one hour or twice
 *                                   the wait of the table, whichever is longer; not varied
 *     429, 502, 503, 504, timeout   that of the table, but at least 60 s
 *     any other failure             that of the table `waits`
 *
 * A wait of the table is varied by up to 20 % either way.
 */
#include "delivery/retry.h"

#include <string.h>
#include <time.h>

#define SECONDS INT64_C(1000)
#define MINUTES (60 * SECONDS)
#define HOURS   (60 * MINUTES)

/* The wait after the first failed attempt, after the second, and so on. */
static const int64_t waits[RETRY_ATTEMPTS - 1] = {
    5 * SECONDS, 5 * MINUTES, 30 * MINUTES, 2 * HOURS,  5 * HOURS,
    10 * HOURS,  14 * HOURS,  20 * HOURS,   24 * HOURS,
};

static const int64_t shortest_when_overloaded = 60 * SECONDS;
/* The longest Retry-After that is obeyed, unless twice the wait is longer. */
static const int64_t longest_asked_for = 1 * HOURS;

static bool is_overloaded(const struct retry_failure *failure) {
    return failure->timed_out || failure->status == 429 ||
           (failure->status >= 502 && failure->status <= 504);
}

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* From 80 % to 120 % of `wait`. */
static int64_t vary(int64_t wait, uint32_t random) {
    return wait - wait / 5 + (int64_t)((double)(wait * 2 / 5) * ((double)random / UINT32_MAX));
}

/* Reads a number of seconds. A number that would overflow is cut off after 13 digits. */
static bool read_seconds(const char *text, int64_t *wait) {
    size_t digits = strspn(text, "0123456789");
    int64_t seconds = 0;
    if (!digits || text[digits])
        return false;
    for (size_t i = 0; i < digits && seconds < INT64_C(1000000000000); i++)
        seconds = seconds * 10 + (text[i] - '0');
    *wait = seconds * SECONDS;
    return true;
}

bool retry_read_retry_after(const char *text, int64_t now, int64_t *wait) {
    static const char *const forms[] = {
        "%a, %d %b %Y %H:%M:%S GMT", /* IMF-fixdate */
        "%A, %d-%b-%y %H:%M:%S GMT", /* RFC 850 */
        "%a %b %e %H:%M:%S %Y",      /* asctime */
    };
    if (read_seconds(text, wait))
        return true;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);
        if (end && !*end) {
            *wait = (int64_t)timegm(&tm) * SECONDS - now;
            return true;
        }
    }
    return false;
}

bool retry_schedule(const struct retry_failure *failure, uint32_t random, int64_t *next) {
    int64_t asked;
    if (failure->attempts >= RETRY_ATTEMPTS)
        return false;
    int64_t wait = waits[failure->attempts < 1 ? 0 : failure->attempts - 1];
    if (failure->retry_after &&
        retry_read_retry_after(failure->retry_after, failure->now, &asked)) {
        int64_t most = 2 * wait > longest_asked_for ? 2 * wait : longest_asked_for;
        wait = clamp(asked, shortest_when_overloaded, most);
    } else {
        wait = vary(wait, random);
        if (is_overloaded(failure) && wait < shortest_when_overloaded)
            wait = shortest_when_overloaded;
    }
    *next = failure->now + wait;
    return true;
}
