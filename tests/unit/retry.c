/* lib/delivery/retry.h */
#include "delivery/retry.h"

#include "base/clock.h"
#include "check.h"

static const int64_t now = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */
static const uint32_t middle = UINT32_MAX / 2, low = 0, high = UINT32_MAX;

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)

/* The wait in ms after a failure; -1 when there is no further attempt. */
static int64_t wait_after(struct retry_failure failure, uint32_t random) {
    int64_t next;
    failure.now = now;
    return retry_schedule(&failure, random, &next) ? next - now : -1;
}

static const int64_t steps[] = {5000,      5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR,
                                10 * HOUR, 14 * HOUR,  20 * HOUR,   24 * HOUR};

static void check_steps(void) {
    for (int attempts = 1; attempts <= 9; attempts++) {
        struct retry_failure failure = {.attempts = attempts, .status = 500};
        int64_t step = steps[attempts - 1];
        int64_t least = wait_after(failure, low), most = wait_after(failure, high);
        int64_t between = wait_after(failure, middle);
        check(least == step * 8 / 10, "attempt %d: %lld", attempts, (long long)least);
        check(most == step * 12 / 10, "attempt %d: %lld", attempts, (long long)most);
        check(between > step - 10 && between < step + 10, "attempt %d: %lld", attempts,
              (long long)between);
    }
    check(wait_after((struct retry_failure){.attempts = 10, .status = 500}, middle) == -1,
          "no attempt after the tenth");
    check(wait_after((struct retry_failure){.attempts = 11, .status = 500}, middle) == -1,
          "no attempt after the eleventh");
}

/* The wait stays within its bounds for every random number, and grows with it. */
static void check_chance(void) {
    struct retry_failure failure = {.attempts = 2, .status = 500};
    int64_t before = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        int64_t wait = wait_after(failure, i * (UINT32_MAX / 1000));
        check(wait >= 4 * MINUTE && wait <= 6 * MINUTE && wait >= before, "%lld", (long long)wait);
        before = wait;
    }
}

static void check_overload(void) {
    static const struct {
        int status;
        bool timed_out;
        int64_t wait;
    } rows[] = {{429, false, MINUTE}, {502, false, MINUTE}, {503, false, MINUTE},
                {504, false, MINUTE}, {0, true, MINUTE},    {200, true, MINUTE},
                {500, false, 4000},   {501, false, 4000},   {301, false, 4000},
                {404, false, 4000},   {0, false, 4000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct retry_failure failure = {
            .attempts = 1, .status = rows[i].status, .timed_out = rows[i].timed_out};
        check(wait_after(failure, low) == rows[i].wait, "status %d", rows[i].status);
    }
    check(wait_after((struct retry_failure){.attempts = 2, .status = 503}, low) == 4 * MINUTE,
          "a longer wait is not shortened");
}

static void check_retry_after(void) {
    static const struct {
        int attempts;
        const char *text;
        int64_t wait;
    } rows[] = {
        {1, "120", 120000},                                 /* exactly, without variation */
        {1, "0", MINUTE},                                   /* at least a minute */
        {1, "59", MINUTE},                                  /* */
        {1, "3600", HOUR},                                  /* */
        {1, "3601", HOUR},                                  /* at most an hour, or */
        {4, "14399", 14399000},                             /* twice the wait */
        {4, "14401", 4 * HOUR},                             /* */
        {9, "99999999999999999999999999999999", 48 * HOUR}, /* more than ten years */
        {1, "Thu, 01 Jan 2026 00:10:00 GMT", 10 * MINUTE},  /* the three forms of a date */
        {1, "Thursday, 01-Jan-26 00:10:00 GMT", 10 * MINUTE},
        {1, "Thu Jan  1 00:10:00 2026", 10 * MINUTE},
        {1, "Wed, 31 Dec 2025 23:00:00 GMT", MINUTE}, /* in the past */
        {1, "Fri, 01 Jan 2036 00:00:00 GMT", HOUR},
        {1, "", 4000}, /* an invalid value is ignored */
        {1, "soon", 4000},
        {1, "12x", 4000},
        {1, "-5", 4000},
        {1, "1.5", 4000},
        {1, "Thu, 01 Jan 2026 00:10:00 GMT and more", 4000},
        {1, NULL, 4000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct retry_failure failure = {
            .attempts = rows[i].attempts, .status = 500, .retry_after = rows[i].text};
        int64_t wait = wait_after(failure, low);
        check(wait == rows[i].wait, "%s: %lld", rows[i].text ? rows[i].text : "none",
              (long long)wait);
    }
}

int main(void) {
    check_steps();
    check_chance();
    check_overload();
    check_retry_after();
    return check_failures();
}
