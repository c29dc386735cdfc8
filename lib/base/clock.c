#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What clock_now adds to clock_boot. */
static struct {
    bool is_set;
    int64_t ms;
} followed;

int64_t clock_now(void) {
    return followed.is_set ? clock_boot() + followed.ms : clock_system();
}

int64_t clock_system(void) {
    return read_clock(CLOCK_REALTIME);
}

void clock_follow(int64_t now, int64_t boot) {
    followed.ms = now - boot;
    followed.is_set = true;
}

int64_t clock_ahead(void) {
    return followed.is_set ? clock_system() - clock_now() : 0;
}

int64_t clock_boot(void) {
    return read_clock(CLOCK_BOOTTIME);
}

int64_t clock_monotonic(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_monotonic_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Writes `value` as `digits` digits and returns the address after them. */
static char *put_digits(char *p, int digits, int64_t value) {
    for (int i = digits; i-- > 0; value /= 10)
        p[i] = (char)('0' + value % 10);
    return p + digits;
}

/* Writes the Gregorian date of `day`, the number of days since 1970-01-01, and returns the address
 * after it. gmtime_r(3) is not used because it reads the time zone file first. Years begin in March
 * here, so that the leap day is the last day of a year; eras are 400 years from 0000-03-01, all of
 * the same length. */
static char *put_date(char *p, int64_t day) {
    const int64_t era_days = 146097, first = 719468; /* from 0000-03-01 to 1970-01-01 */
    day += first;
    int64_t era = (day >= 0 ? day : day - era_days + 1) / era_days, of_era = day - era * era_days;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t march_month = (5 * of_year + 2) / 153;
    int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
    p = put_digits(p, 4, year + era * 400 + (month <= 2));
    *p++ = '-';
    p = put_digits(p, 2, month);
    *p++ = '-';
    return put_digits(p, 2, of_year - (153 * march_month + 2) / 5 + 1);
}

void clock_format(int64_t ms, char text[CLOCK_ISO8601_SIZE]) {
    const int64_t first = -62167219200000, last = 253402300799999, day_ms = 86400000;
    ms = ms < first ? first : ms > last ? last : ms;
    int64_t of_day = ((ms % day_ms) + day_ms) % day_ms;
    char *p = put_date(text, (ms - of_day) / day_ms);
    *p++ = 'T';
    p = put_digits(p, 2, of_day / 3600000);
    *p++ = ':';
    p = put_digits(p, 2, of_day / 60000 % 60);
    *p++ = ':';
    p = put_digits(p, 2, of_day / 1000 % 60);
    *p++ = '.';
    p = put_digits(p, 3, of_day % 1000);
    *p++ = 'Z';
    *p = '\0';
}

/* Parses exactly `digits` digits at *p into *value and advances *p past them. */
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
        if (read_char(&p, ':') &&
            (!read_digits(&p, 2, &tm.tm_sec) || (read_char(&p, '.') && !read_fraction(&p, &extra))))
            return false;
        if (!read_offset(&p, &extra) || *p)
            return false;
    }
    struct tm given = tm;
    time_t seconds = timegm(&tm); /* changes an invalid date: 31 February becomes a day in March */
    if (tm.tm_mon != given.tm_mon || tm.tm_mday != given.tm_mday || tm.tm_hour != given.tm_hour ||
        tm.tm_min != given.tm_min || given.tm_sec > 59)
        return false;
    *ms = (int64_t)seconds * 1000 + extra;
    return true;
}
