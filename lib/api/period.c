#include "api/period.h"

#include "base/clock.h"

enum { LONGEST_TIME = 40, DAY_LENGTH = 10 };

/* The text is shorter than LONGEST_TIME. */
static bool read_time(struct slice text, int64_t *ms) {
    char copy[LONGEST_TIME + 1];
    if (text.n > LONGEST_TIME || memchr(text.p, '\0', text.n))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return clock_parse(copy, ms);
}

static const char *check_time(struct slice text) {
    int64_t ms;
    return read_time(text, &ms) ? NULL : "must be a time in ISO 8601, as " PERIOD_TIME_EXAMPLE;
}

static const char *check_moment(struct slice text) {
    int64_t ms;
    return text.n > DAY_LENGTH && read_time(text, &ms)
               ? NULL
               : "must be a date and a time in ISO 8601 with Z or an offset, "
                 "as " PERIOD_TIME_EXAMPLE;
}

static const char *check_day(struct slice text) {
    int64_t ms;
    return text.n == DAY_LENGTH && read_time(text, &ms) ? NULL
                                                        : "must be a day, as " PERIOD_DAY_EXAMPLE;
}

const struct text_rule period_time_rule = {
    .meaning = "a time in ISO 8601", .longest = LONGEST_TIME, .check = check_time};

const struct text_rule period_moment_rule = {
    .meaning = "a date and a time in ISO 8601 with Z or an offset",
    .pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
               "(Z|[+-][0-9]{2}:[0-9]{2})$",
    .longest = LONGEST_TIME,
    .check = check_moment};

const struct text_rule period_day_rule = {.meaning = "a day",
                                          .pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
                                          .longest = DAY_LENGTH,
                                          .check = check_day};

int64_t period_time(struct slice text, int64_t preset) {
    int64_t ms;
    return text.p && read_time(text, &ms) ? ms : preset;
}
