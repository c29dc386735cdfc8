#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_now(void) {
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_monotonic(void) {
    return read_clock(CLOCK_MONOTONIC);
}

void clock_format(int64_t ms, char text[CLOCK_ISO8601_SIZE]) {
    const int64_t first = -62167219200000, last = 253402300799999;
    ms = ms < first ? first : ms > last ? last : ms;
    int64_t fraction = ((ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)((ms - fraction) / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t n = strftime(text, CLOCK_ISO8601_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    if (n < 19) { /* strftime does not pad years below 1000 */
        int year = tm.tm_year + 1900;
        char rest[16];
        strftime(rest, sizeof rest, "-%m-%dT%H:%M:%S", &tm);
        n = (size_t)snprintf(text, CLOCK_ISO8601_SIZE, "%04u%s", (unsigned)year % 10000u, rest);
    }
    snprintf(text + n, CLOCK_ISO8601_SIZE - n, ".%03uZ", (unsigned)fraction % 1000u);
}

/* Reads exactly `digits` digits at *p into *value and moves past them. */
static bool read_digits(const char **p, int digits, int *value) {
    *value = 0;
    for (int i = 0; i < digits; i++, (*p)++) {
        if (**p < '0' || **p > '9')
            return false;
        *value = *value * 10 + (**p - '0');
    }
    return true;
}

static bool read_char(const char **p, char c) {
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

static bool read_fraction(const char **p, int64_t *ms) {
    int64_t unit = 100;
    if (**p < '0' || **p > '9')
        return false;
    for (; **p >= '0' && **p <= '9'; (*p)++, unit /= 10)
        *ms += (**p - '0') * unit;
    return true;
}

static bool read_offset(const char **p, int64_t *ms) {
    if (read_char(p, 'Z'))
        return true;
    int sign = **p == '+' ? -1 : **p == '-' ? 1 : 0, hours, minutes;
    if (!sign)
        return false;
    (*p)++;
    if (!read_digits(p, 2, &hours) || !read_char(p, ':') || !read_digits(p, 2, &minutes))
        return false;
    *ms += sign * (hours * 60 + minutes) * INT64_C(60000);
    return hours < 24 && minutes < 60;
}

bool clock_parse(const char *text, int64_t *ms) {
    struct tm tm = {0};
    int64_t extra = 0;
    const char *p = text;
    if (!read_digits(&p, 4, &tm.tm_year) || !read_char(&p, '-') ||
        !read_digits(&p, 2, &tm.tm_mon) || !read_char(&p, '-') || !read_digits(&p, 2, &tm.tm_mday))
        return false;
    tm.tm_year -= 1900, tm.tm_mon -= 1;
    if (*p) {
        if ((!read_char(&p, 'T') && !read_char(&p, ' ')) || !read_digits(&p, 2, &tm.tm_hour) ||
            !read_char(&p, ':') || !read_digits(&p, 2, &tm.tm_min))
            return false;
        if (read_char(&p, ':') && (!read_digits(&p, 2, &tm.tm_sec) ||
                                   (read_char(&p, '.') && !read_fraction(&p, &extra))))
            return false;
        if (!read_offset(&p, &extra) || *p)
            return false;
    }
    struct tm given = tm;
    time_t seconds = timegm(&tm); /* normalizes: 31 February becomes a day in March */
    if (tm.tm_mon != given.tm_mon || tm.tm_mday != given.tm_mday || tm.tm_hour != given.tm_hour ||
        tm.tm_min != given.tm_min || given.tm_sec > 59)
        return false;
    *ms = (int64_t)seconds * 1000 + extra;
    return true;
}
