#include "store/count/usage_count.h"

#include <stdio.h>

#include "engine/tally.h"

/* The counts of a line in an hour. */
struct usage_line {
    char user_id[ID_SIZE], line_id[ID_SIZE];
    int64_t hour;
    int64_t counts[USAGE_MEASURES];
};

static int compare_lines(const void *a, const void *b) {
    const struct usage_line *first = a, *second = b;
    const int user = strcmp(first->user_id, second->user_id);
    const int line = user ? user : strcmp(first->line_id, second->line_id);
    return line ? line : (first->hour > second->hour) - (first->hour < second->hour);
}

static bool write_line(struct store *store, void *entry) {
    static struct statement s = {
        .sql = "INSERT INTO usage (user_id, hour, line_id, measure, count) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (user_id, hour, line_id, measure) "
               "DO UPDATE SET count = usage.count + excluded.count"};
    const struct usage_line *line = entry;
    for (size_t i = 0; i < USAGE_MEASURES; i++)
        if (line->counts[i] &&
            !sql_run_later(store, &s, TEXT(line->user_id), INTEGER(line->hour), TEXT(line->line_id),
                           TEXT(usage_names[i]), INTEGER(line->counts[i])))
            return false;
    return true;
}

static struct usage_line room[2 * 64];
static struct tally lines = {
    .name = "usage", TALLY_IN(room), .order = compare_lines, .write = write_line};

bool usage_count(struct store *store, const char *user_id, const char *line_id, int64_t now,
                 enum usage_measure measure) {
    struct usage_line key = {.hour = now / USAGE_HOUR_MS};
    if (measure >= USAGE_MEASURES)
        return true;
    snprintf(key.user_id, ID_SIZE, "%s", user_id);
    snprintf(key.line_id, ID_SIZE, "%s", line_id);
    struct usage_line *line = tally_find(&lines, compare_lines, &key);
    if (!line && !(line = tally_add(store, &lines, &key)))
        return false;
    line->counts[measure]++;
    return true;
}
