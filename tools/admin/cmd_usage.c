/* switchboard usage */
#include "store/usage.h"

#include "base/clock.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/listing.h"

enum { PRESET_DAYS = 30, MOST_DAYS = 366, DAY_HOURS = 24 };
#define DAY_MS ((int64_t)DAY_HOURS * USAGE_HOUR_MS)

static const char *day_text(struct arena *arena, int64_t ms) {
    char time[CLOCK_ISO8601_SIZE];
    clock_format(ms, time);
    return arena_printf(arena, "%.10s", time);
}

static void write_day(struct json_writer *json, const char *day,
                      const struct usage_period *period) {
    json_write_object(json, NULL);
    json_write_text(json, "day", day);
    for (size_t i = 0; i < USAGE_MARKETING; i++)
        json_write_integer(json, usage_names[i], period->counts[i]);
    json_write_object(json, "templates");
    for (size_t i = USAGE_MARKETING; i < USAGE_MEASURES; i++)
        json_write_integer(json, usage_names[i], period->counts[i]);
    json_write_end(json);
    json_write_end(json);
}

static void add_row(struct table *table, struct arena *arena, const char *title,
                    const struct usage_period *period) {
    table_cell(table, title);
    for (size_t i = 0; i < USAGE_MEASURES; i++)
        table_cell(table, arena_printf(arena, "%lld", (long long)period->counts[i]));
}

static int print_days(struct invocation *call, int64_t first, const struct usage_period *periods,
                      size_t count) {
    struct arena *arena = &call->arena;
    struct usage_period total = {0};
    struct json_writer json = list_start(call);
    struct table table = TABLE(arena, "DAY", "IN", "OUT", "SENT", "DELIVERED", "READ", "FAILED",
                               "MARKETING", "UTILITY", "AUTHENTICATION", "SERVICE");
    for (size_t i = 0; i < count; i++) {
        const char *day = day_text(arena, first + (int64_t)i * DAY_MS);
        write_day(&json, day, &periods[i]);
        add_row(&table, arena, day, &periods[i]);
        for (size_t j = 0; j < USAGE_MEASURES; j++)
            total.counts[j] += periods[i].counts[j];
    }
    add_row(&table, arena, "total", &total);
    return list_print(call, &json, &table);
}

/* The day of an option, midnight UTC in ms. */
static int64_t read_day(const struct invocation *call, enum option option, int64_t preset) {
    int64_t ms = preset;
    if (call->options[option])
        clock_parse(call->options[option], &ms);
    return ms - (ms % DAY_MS + DAY_MS) % DAY_MS;
}

int usage_run(struct invocation *call) {
    const char *email = call->operands[0];
    char user_id[ID_SIZE];
    const int64_t end = call->options[OPTION_UNTIL]
                            ? read_day(call, OPTION_UNTIL, 0)
                            : read_day(call, OPTION_UNTIL, call->now) + DAY_MS;
    const int64_t first = read_day(call, OPTION_SINCE, end - PRESET_DAYS * DAY_MS);
    if (end <= first)
        return fail("--until must be a later day than --since");
    if ((end - first) / DAY_MS > MOST_DAYS)
        return fail("the period has more than %d days; give a later --since or an earlier --until",
                    MOST_DAYS);
    enum store_result result = store_find_user(call->store, email, user_id);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, email);
    const size_t count = (size_t)((end - first) / DAY_MS);
    struct usage_period *periods = arena_alloc(&call->arena, count * sizeof *periods);
    memset(periods, 0, count * sizeof *periods);
    result = store_sum_usage(call->store, user_id, NULL, first / USAGE_HOUR_MS, DAY_HOURS, periods,
                             count);
    return result == STORE_OK ? print_days(call, first, periods, count) : fail_store(call, result);
}
