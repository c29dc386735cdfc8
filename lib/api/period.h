/* Times and days in requests. */
#ifndef SWITCHBOARD_API_PERIOD_H
#define SWITCHBOARD_API_PERIOD_H

#include "web/field.h"

/* A time in ISO 8601; see clock_parse. */
extern const struct text_rule period_time_rule;
#define PERIOD_TIME_EXAMPLE "2026-11-20T23:54:27.935Z"
#define PERIOD_TIME(name_)                                                                         \
    .name = (name_), .type = FIELD_STRING, .rule = &period_time_rule, .example = PERIOD_TIME_EXAMPLE

/* A moment: a time in ISO 8601 that is no day. */
extern const struct text_rule period_moment_rule;

/* A day, YYYY-MM-DD. */
extern const struct text_rule period_day_rule;
#define PERIOD_DAY_EXAMPLE "2026-11-20"

/* Returns the time of a text that passed one of the rules, in ms; `preset` for p == NULL. */
int64_t period_time(struct slice text, int64_t preset);

#endif
