#include "api/campaign/zone.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/process/need.h"

enum { NAME_LONGEST = 64, MINUTES_OF_HOUR = 60, SECOND = 1000, DAY = 24 * 60 * 60 * SECOND };

/* A name cannot lead out of the directory. */
static bool is_name(struct slice name) {
    if (!name.n || name.n > NAME_LONGEST || name.p[0] == '/')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        const bool is_fine = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                             (c >= '0' && c <= '9') || (c && strchr("/_+-", c));
        if (!is_fine)
            return false;
    }
    return true;
}

bool zone_exists(struct slice name) {
    char path[sizeof ZONE_DIRECTORY + 1 + NAME_LONGEST], magic[4] = "";
    if (!is_name(name))
        return false;
    snprintf(path, sizeof path, "%s/%.*s", ZONE_DIRECTORY, (int)name.n, name.p);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool is_zone = read(file, magic, sizeof magic) == (ssize_t)sizeof magic &&
                         memcmp(magic, "TZif", sizeof magic) == 0;
    close(file);
    return is_zone;
}

/* The moment of a minute of a day that is `days` after that of `day`. */
static int64_t moment_of(const struct tm *day, int days, int minute) {
    struct tm at = {.tm_year = day->tm_year,
                    .tm_mon = day->tm_mon,
                    .tm_mday = day->tm_mday + days,
                    .tm_hour = minute / MINUTES_OF_HOUR,
                    .tm_min = minute % MINUTES_OF_HOUR,
                    .tm_isdst = -1};
    return (int64_t)mktime(&at) * SECOND;
}

static size_t list_spans(const struct zone_hours *hours, int64_t start, size_t days,
                         struct zone_span *spans) {
    const time_t second = (time_t)(start / SECOND);
    const int64_t end = start + (int64_t)days * DAY;
    const int ends_later = hours->to <= hours->from ? 1 : 0;
    struct tm day;
    size_t count = 0;
    if (!localtime_r(&second, &day))
        return 0;
    for (int i = -1; i <= (int)days && count <= days; i++) {
        const struct zone_span span = {moment_of(&day, i, hours->from),
                                       moment_of(&day, i + ends_later, hours->to)};
        if (span.to > start && span.from < end && span.to > span.from)
            spans[count++] = span;
    }
    return count;
}

/* The zone of the process is that of the C library's functions: all other code has UTC. */
static void use_zone(const char *value) {
    if (value)
        setenv("TZ", value, 1);
    else
        unsetenv("TZ");
    tzset();
}

size_t zone_spans(const struct zone_hours *hours, int64_t start, size_t days,
                  struct zone_span *spans) {
    char value[sizeof ":" ZONE_DIRECTORY "/" + NAME_LONGEST];
    const char *const own = getenv("TZ");
    char *const before = own ? strdup(own) : NULL;
    snprintf(value, sizeof value, ":%s/%s", ZONE_DIRECTORY, hours->zone);
    use_zone(value);
    const size_t count = list_spans(hours, start, days, spans);
    use_zone(before);
    free(before);
    return count;
}
