#include "api/campaign/campaign_window.h"

#include "api/campaign/zone.h"

enum { DAYS = 31, HOURS_OF_DAY = 24, MINUTES_OF_HOUR = 60 };

/* The minute of the day; -1: the text is no time. */
static int minute_of(struct slice text) {
    int digits[4];
    if (text.n != 5 || text.p[2] != ':')
        return -1;
    for (int i = 0; i < 4; i++) {
        const char c = text.p[i < 2 ? i : i + 1];
        if (c < '0' || c > '9')
            return -1;
        digits[i] = c - '0';
    }
    const int hour = 10 * digits[0] + digits[1], minute = 10 * digits[2] + digits[3];
    return hour < HOURS_OF_DAY && minute < MINUTES_OF_HOUR ? hour * MINUTES_OF_HOUR + minute : -1;
}

static const char *check_time(struct slice text) {
    return minute_of(text) < 0 ? "must be a time of the day, such as 09:00" : NULL;
}

static const char *check_zone(struct slice text) {
    if (zone_exists(text))
        return NULL;
    return zone_exists(SLICE("UTC"))
               ? "must be the name of a time zone, such as Europe/Berlin"
               : "cannot be looked up: this machine has no time zones; install the package tzdata";
}

static const struct text_rule time_rule = {.meaning = "a time of the day",
                                           .pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$",
                                           .check = check_time};
static const struct text_rule zone_rule = {.meaning = "the name of a time zone of tzdata",
                                           .check = check_zone};

const struct field campaign_window_fields[] = {
    {.name = "from",
     .type = FIELD_STRING,
     .required = true,
     .rule = &time_rule,
     .example = "09:00"},
    {.name = "to", .type = FIELD_STRING, .required = true, .rule = &time_rule, .example = "20:00"},
    {.name = "timeZone",
     .type = FIELD_STRING,
     .required = true,
     .rule = &zone_rule,
     .example = "Europe/Berlin"},
    {0},
};

static const char *text_of(struct request *rq, struct json window, const char *name) {
    return json_text(json_get(window, name), rq->arena);
}

int campaign_window_read(struct request *rq, struct slice *window) {
    const struct json given = json_get(rq->json, "window");
    struct json_writer out;
    *window = SLICE("");
    if (!json_is(given))
        return 0;
    const char *const from = text_of(rq, given, "from"), *const to = text_of(rq, given, "to");
    if (strcmp(from, to) == 0)
        return fail(rq, INVALID, "window.to must differ from window.from.");
    json_write_start_object(&out, rq->arena);
    json_write_text(&out, "from", from);
    json_write_text(&out, "to", to);
    json_write_text(&out, "timeZone", text_of(rq, given, "timeZone"));
    *window = json_written(&out);
    return 0;
}

int campaign_window_times(struct request *rq, const struct store_campaign *campaign, int64_t start,
                          const char **times) {
    struct zone_span spans[DAYS + 1];
    struct buffer text = buffer_in(rq->arena);
    struct json window;
    struct json_error error;
    *times = NULL;
    if (!campaign->window.n)
        return 0;
    if (json_read(rq->arena, campaign->window, &window, &error))
        return fail(rq, INTERNAL, "The stored window of the campaign is no JSON.");
    const struct zone_hours hours = {
        .zone = text_of(rq, window, "timeZone"),
        .from = minute_of(json_string(json_get(window, "from"), rq->arena)),
        .to = minute_of(json_string(json_get(window, "to"), rq->arena))};
    if (!zone_exists(slice_of(hours.zone)))
        return fail(rq, CONFLICT, "The time zone %s is not known here any more.", hours.zone);
    const size_t count = zone_spans(&hours, start, DAYS, spans);
    for (size_t i = 0; i < count; i++)
        buffer_add_slice(&text,
                         slice_of(arena_printf(rq->arena, "%s%lld-%lld", i ? " " : "",
                                               (long long)spans[i].from, (long long)spans[i].to)));
    *times = arena_copy(rq->arena, buffer_slice(&text));
    return 0;
}
