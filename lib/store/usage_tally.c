#include "store/usage_tally.h"

#include <stdio.h>
#include <stdlib.h>

static int compare_lines(const void *a, const void *b) {
    const struct usage_line *first = a, *second = b;
    const int order = strcmp(first->user_id, second->user_id);
    return order ? order : strcmp(first->line_id, second->line_id);
}

static bool write_line(struct store *store, const struct usage_line *line, int64_t hour) {
    static struct statement s = {
        .sql = "INSERT INTO usage (user_id, hour, line_id, measure, count) "
               "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (user_id, hour, line_id, measure) "
               "DO UPDATE SET count = usage.count + excluded.count"};
    for (size_t i = 0; i < USAGE_MEASURES; i++)
        if (line->counts[i] &&
            !sql_run_later(store, &s, TEXT(line->user_id), INTEGER(hour), TEXT(line->line_id),
                           TEXT(usage_names[i]), INTEGER(line->counts[i])))
            return false;
    return true;
}

bool usage_write(struct store *store, struct usage_tally *tally) {
    qsort(tally->lines, tally->count, sizeof *tally->lines, compare_lines);
    for (size_t i = 0; i < tally->count; i++)
        if (!write_line(store, &tally->lines[i], tally->now / USAGE_HOUR_MS))
            return false;
    tally->count = 0;
    return true;
}

struct usage_line *usage_of_line(struct store *store, struct usage_tally *tally,
                                 const char *user_id, const char *line_id) {
    size_t i = 0;
    while (i < tally->count && strcmp(tally->lines[i].line_id, line_id) != 0)
        i++;
    if (i == USAGE_TALLY_LINES) {
        if (!usage_write(store, tally))
            return NULL;
        i = 0;
    }
    struct usage_line *line = &tally->lines[i];
    if (i == tally->count) {
        *line = (struct usage_line){0};
        snprintf(line->user_id, ID_SIZE, "%s", user_id);
        snprintf(line->line_id, ID_SIZE, "%s", line_id);
        tally->count++;
    }
    return line;
}
