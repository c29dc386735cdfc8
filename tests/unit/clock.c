/* lib/base/clock.h: ISO 8601 times; lib/base/id.h: ids that contain a time;
 * lib/api/campaign/zone.h: hours of a day. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/campaign/zone.h"
#include "base/id.h"
#include "compare.h"

static const struct {
    int64_t ms;
    const char *text;
} shown[] = {
    {0, "1970-01-01T00:00:00.000Z"},
    {1, "1970-01-01T00:00:00.001Z"},
    {-1, "1969-12-31T23:59:59.999Z"},
    {-1000, "1969-12-31T23:59:59.000Z"},
    {951782400000, "2000-02-29T00:00:00.000Z"},
    {1795219199999, "2026-11-20T23:59:59.999Z"},
    {4102444800000, "2100-01-01T00:00:00.000Z"},
    {253402300799999, "9999-12-31T23:59:59.999Z"},
    {253402300800000, "9999-12-31T23:59:59.999Z"},
    {INT64_MAX, "9999-12-31T23:59:59.999Z"},
    {-62135596800000, "0001-01-01T00:00:00.000Z"},
    {-62167219200000, "0000-01-01T00:00:00.000Z"},
    {-62167219200001, "0000-01-01T00:00:00.000Z"},
    {INT64_MIN, "0000-01-01T00:00:00.000Z"},
};

static const struct {
    const char *text;
    int64_t ms;
} understood[] = {
    {"1970-01-01", 0},
    {"1970-01-01T00:00Z", 0},
    {"1970-01-01 00:00Z", 0},
    {"1970-01-01T00:00:01Z", 1000},
    {"1970-01-01T00:00:01.5Z", 1500},
    {"1970-01-01T00:00:01.007Z", 1007},
    {"1970-01-01T00:00:01.0079999Z", 1007},
    {"1970-01-01T02:00:00+02:00", 0},
    {"1969-12-31T18:30-05:30", 0},
    {"2000-02-29T00:00:00Z", 951782400000},
    {"1969-12-31T23:59:59.999Z", -1},
    {"0000-01-01", -62167219200000},
    {"9999-12-31T23:59:59.999Z", 253402300799999},
};

static const char *const not_understood[] = {
    "",
    "now",
    "2026",
    "2026-11",
    "2026-11-",
    "2026-11-2",
    "26-11-20",
    "2026-11-20T",
    "2026-11-20T10",
    "2026-11-20T10:00", /* no time zone */
    "2026-11-20T10:00:00",
    "2026-11-20T10:00:00z",
    "2026-11-20T10:00:00ZZ",
    "2026-11-20T10:00:00Z ",
    " 2026-11-20",
    "2026-11-20 ",
    "2026-00-01",
    "2026-13-01",
    "2026-02-29",
    "2026-11-31",
    "2026-11-00",
    "2026-11-20T24:00Z",
    "2026-11-20T10:60Z",
    "2026-11-20T10:00:60Z",
    "2026-11-20T10:00:00.Z",
    "2026-11-20T10:00.5Z", /* a fraction of minutes */
    "2026-11-20T10:00:00,5Z",
    "2026-11-20T10:00:00+2",
    "2026-11-20T10:00:00+0200",
    "2026-11-20T10:00:00+24:00",
    "2026-11-20T10:00:00+02:60",
    "2026-11-20T-1:00Z",
    "2026/11/20",
    "20261120",
};

static void check_times(void) {
    char text[CLOCK_ISO8601_SIZE];
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        clock_format(shown[i].ms, text);
        CHECK_TEXT_AS(shown[i].text, text, shown[i].text);
    }
    for (size_t i = 0; i < sizeof understood / sizeof *understood; i++) {
        int64_t ms = 12345;
        CHECK_INTEGER_AS(understood[i].text, clock_parse(understood[i].text, &ms), true);
        CHECK_INTEGER_AS(understood[i].text, ms, understood[i].ms);
    }
    for (size_t i = 0; i < sizeof not_understood / sizeof *not_understood; i++) {
        int64_t ms;
        CHECK_INTEGER_AS(not_understood[i], clock_parse(not_understood[i], &ms), false);
    }
    /* a prime step, so that every hour, weekday, month and leap year occurs */
    for (int64_t ms = -62167219200000; ms < 253402300800000; ms += 86400009973 * INT64_C(7)) {
        int64_t again;
        clock_format(ms, text);
        CHECK(clock_parse(text, &again) && again == ms);
    }
    int64_t before = clock_monotonic();
    CHECK(clock_now() > INT64_C(1700000000000) && clock_monotonic() >= before);
}

/* Another clock, 5 s behind the system's: after a step of the system's clock only clock_ahead
 * differs. */
static void check_followed(void) {
    CHECK_INTEGER(clock_ahead(), 0);
    const int64_t system = clock_system(), boot = clock_boot();
    clock_follow(system - 5000, boot);
    const int64_t now = clock_now(), passed = clock_boot() - boot;
    CHECK(now >= system - 5000 && now <= system - 5000 + passed);
    CHECK(clock_ahead() >= 4900 && clock_ahead() <= 5100);
    clock_follow(0, clock_boot());
    CHECK(clock_now() >= 0 && clock_now() <= 1000);
}

static int compare_ids(const void *a, const void *b) {
    return strcmp(a, b);
}

static void check_ids(void) {
    enum { COUNT = 2000 };
    static char ids[COUNT][ID_SIZE];
    for (int64_t i = 0; i < COUNT; i++)
        id_make(ids[i], "msg_", INT64_C(1795219200000) + i);
    for (int i = 0; i < COUNT; i++) {
        CHECK_INTEGER(strlen(ids[i]), 30);
        CHECK_INTEGER(strspn(ids[i] + 4, "0123456789abcdefghjkmnpqrstvwxyz"), 26);
        CHECK(strncmp(ids[i], "msg_", 4) == 0);
        CHECK(i == 0 || strcmp(ids[i - 1], ids[i]) < 0); /* a later time sorts later */
    }
    for (int i = 0; i < COUNT; i++) /* all in the same millisecond */
        id_make(ids[i], "", 0);
    qsort(ids, COUNT, ID_SIZE, compare_ids);
    for (int i = 0; i < COUNT; i++) {
        CHECK(strncmp(ids[i], "0000000000", 10) == 0 && strlen(ids[i]) == 26);
        CHECK(i == 0 || strcmp(ids[i - 1], ids[i]) != 0);
    }
    id_make(ids[0], "evt_", (INT64_C(1) << 48) - 1);
    CHECK(strncmp(ids[0], "evt_7zzzzzzzzz", 14) == 0);
}

/* --- the hours of a day in a time zone, beside changes of its clock --- */

enum { DAYS = 3, HOUR = 60 };

/* A window, when it is looked at, and its spans. */
static const struct {
    const char *name;
    struct zone_hours hours;
    int64_t start; /* s */
    const char *spans;
} windows[] = {
    {"to summer time",
     {"Europe/Berlin", 9 * HOUR, 20 * HOUR},
     1774659600, /* Saturday, 2026-03-28T01:00Z */
     "28T08:00-28T19:00 29T07:00-29T18:00 30T07:00-30T18:00 "},
    {"to winter time",
     {"Europe/Berlin", 9 * HOUR, 20 * HOUR},
     1792803600, /* Saturday, 2026-10-24T01:00Z */
     "24T07:00-24T18:00 25T08:00-25T19:00 26T08:00-26T19:00 "},
    {"over midnight, and begun",
     {"Europe/Berlin", 22 * HOUR, 2 * HOUR},
     1774654200, /* 2026-03-27T23:30Z */
     "27T21:00-28T01:00 28T21:00-29T01:00 29T20:00-30T00:00 30T20:00-31T00:00 "},
    {"begun",
     {"UTC", 9 * HOUR, 20 * HOUR},
     1774692000, /* 2026-03-28T10:00Z */
     "28T09:00-28T20:00 29T09:00-29T20:00 30T09:00-30T20:00 31T09:00-31T20:00 "},
    {"over",
     {"UTC", 9 * HOUR, 10 * HOUR},
     1774692000,
     "29T09:00-29T10:00 30T09:00-30T10:00 31T09:00-31T10:00 "},
    {"beside the date line",
     {"Pacific/Kiritimati", 9 * HOUR, 20 * HOUR},
     1774692000,
     "28T19:00-29T06:00 29T19:00-30T06:00 30T19:00-31T06:00 "},
};

static void add_moment(char *text, size_t size, int64_t at, char end) {
    const time_t second = (time_t)(at / 1000);
    const size_t n = strlen(text);
    struct tm tm;
    gmtime_r(&second, &tm);
    snprintf(text + n, size - n, "%02dT%02d:%02d%c", tm.tm_mday, tm.tm_hour, tm.tm_min, end);
}

static void check_spans(void) {
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        struct zone_span spans[DAYS + 1];
        char text[200] = "";
        const size_t count = zone_spans(&windows[i].hours, windows[i].start * 1000, DAYS, spans);
        for (size_t j = 0; j < count; j++) {
            add_moment(text, sizeof text, spans[j].from, '-');
            add_moment(text, sizeof text, spans[j].to, ' ');
        }
        CHECK_TEXT_AS(windows[i].name, text, windows[i].spans);
    }
}

static void check_zones(void) {
    static const char *const none[] = {
        "",     "Europe", "Europe/Atlantis", "zone.tab",     "../etc", "/etc/localtime",
        "UTC ", "UTC;rm", "tzdata.zi",       "Europe/../UTC"};
    CHECK(zone_exists(SLICE("Europe/Berlin")));
    CHECK(zone_exists(SLICE("America/Argentina/Buenos_Aires")));
    CHECK(zone_exists(SLICE("Etc/GMT+5")));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check(!zone_exists(slice_of(none[i])), "%s", none[i]);
}

int main(void) {
    setenv("TZ", "Asia/Tokyo", 1);
    check_zones();
    check_spans();
    CHECK_TEXT(getenv("TZ"), "Asia/Tokyo"); /* that of the process stays */
    check_times();
    check_ids();
    check_followed();
    return check_failures();
}
