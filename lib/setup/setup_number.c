#include "setup/setup.h"

#include "base/clock.h"

/* clang-format off */
static const struct setup_word states[] = {
    {"CONNECTED", SETUP_OK, SETUP_NOTHING},
    {"PENDING", SETUP_FAULT, SETUP_DO_REGISTER},
    {"DISCONNECTED", SETUP_FAULT, SETUP_DO_REGISTER},
    {"UNVERIFIED", SETUP_FAULT, SETUP_DO_REGISTER},
    {"MIGRATED", SETUP_FAULT, SETUP_DO_MOVED},
    {"DELETED", SETUP_FAULT, SETUP_DO_DELETED},
    {"FLAGGED", SETUP_WARNING, SETUP_DO_RAISE_QUALITY},
    {"RATE_LIMITED", SETUP_WARNING, SETUP_DO_SEND_LESS},
    {"RESTRICTED", SETUP_FAULT, SETUP_DO_APPEAL},
    {"BANNED", SETUP_FAULT, SETUP_DO_APPEAL},
    {0}};

static const struct setup_word names[] = {
    {"APPROVED", SETUP_OK, SETUP_NOTHING},
    {"AVAILABLE_WITHOUT_REVIEW", SETUP_OK, SETUP_NOTHING},
    {"PENDING_REVIEW", SETUP_WARNING, SETUP_DO_AWAIT_NAME},
    {"DECLINED", SETUP_FAULT, SETUP_DO_OTHER_NAME},
    {"EXPIRED", SETUP_FAULT, SETUP_DO_REGISTER_NAME},
    {"NONE", SETUP_WARNING, SETUP_DO_GIVE_NAME},
    {0}};

static const struct setup_word types[] = {
    {"CLOUD_API", SETUP_OK, SETUP_NOTHING},
    {"NOT_APPLICABLE", SETUP_FAULT, SETUP_DO_REGISTER},
    {"ON_PREMISE", SETUP_FAULT, SETUP_DO_CLOUD_API},
    {0}};

static const struct setup_word qualities[] = {
    {"GREEN", SETUP_OK, SETUP_NOTHING},
    {"UNKNOWN", SETUP_OK, SETUP_NOTHING},
    {"NA", SETUP_OK, SETUP_NOTHING},
    {"YELLOW", SETUP_WARNING, SETUP_DO_ASKED_ONLY},
    {"RED", SETUP_FAULT, SETUP_DO_STOP},
    {0}};

/* clang-format on */

static const struct line *find_line(const struct setup *setup, const char *id) {
    const struct setup_subject *subject = setup->subject;
    for (size_t i = 0; i < subject->line_count; i++)
        if (strcmp(subject->lines[i].phone_number_id, id) == 0)
            return &subject->lines[i];
    return NULL;
}

static void check_line(struct setup *setup, struct setup_place place,
                       const struct phone_number *number) {
    const struct line *line = find_line(setup, number->id);
    const enum setup_text found = !line                            ? SETUP_IS_NO_LINE
                                  : line->archived_at != INT64_MAX ? SETUP_IS_ARCHIVED
                                                                   : SETUP_IS_LINE;
    setup_add(setup, place, line ? SETUP_OK : SETUP_WARNING, found,
              line ? SETUP_NOTHING : SETUP_DO_IMPORT,
              SETUP_WITH({"number", number->display ? number->display : number->id}));
}

/* Adds a row of what has no wrong word. Adds none when the platform did not send it. */
static void add_word(struct setup *setup, struct setup_place place, const char *member,
                     const char *word) {
    const struct setup_word all[] = {{word, SETUP_OK, SETUP_NOTHING}, {0}};
    setup_add_word(setup, place, member, word, all);
}

static void check_number(struct setup *setup, const struct phone_number *number) {
    const struct setup_place place = {SETUP_NUMBER, number->id};
    const bool is_connected = is_set_and_equal(number->status, "CONNECTED");
    check_line(setup, place, number);
    setup_add_word(setup, place, "status", number->status, states);
    if (!is_connected && number->verification && strcmp(number->verification, "VERIFIED") != 0)
        setup_add(
            setup, place, SETUP_FAULT, SETUP_MEMBER, SETUP_DO_VERIFY_NUMBER,
            SETUP_WITH({"member", "code_verification_status"}, {"word", number->verification}));
    setup_add_word(setup, place, "name_status", number->name_status, names);
    setup_add_word(setup, place, "platform_type", number->platform_type, types);
    setup_add_word(setup, place, "quality_rating", number->quality, qualities);
    add_word(setup, place, "throughput", number->throughput);
    add_word(setup, place, "messaging limit", number->limit);
    setup_add_health(setup, place, number->health);
    setup_add_override(setup, place, number->webhook);
}

static bool is_listed(const struct phone_number *numbers, size_t count, const char *id) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(numbers[i].id, id) == 0)
            return true;
    return false;
}

void setup_check_numbers(struct setup *setup, const struct graph_asker *limited) {
    const struct setup_subject *subject = setup->subject;
    struct phone_number *numbers;
    struct graph_answer answer;
    size_t count;
    if (phone_list_read(setup->arena, limited, subject->waba_id, subject->token, &numbers, &count,
                        &answer)) {
        setup_add_refusal(setup, SETUP_NUMBERS, SETUP_WARNING, SETUP_DO_REPEAT, &answer);
        return;
    }
    if (!count)
        setup_add_here(setup, SETUP_NUMBERS, SETUP_FAULT, SETUP_NO_NUMBER, SETUP_DO_ADD_NUMBER,
                       (struct setup_values){0});
    for (size_t i = 0; i < count; i++)
        check_number(setup, &numbers[i]);
    for (size_t i = 0; i < subject->line_count; i++) {
        const char *id = subject->lines[i].phone_number_id;
        if (subject->lines[i].archived_at == INT64_MAX && !is_listed(numbers, count, id))
            setup_add(setup, (struct setup_place){SETUP_LINE, id}, SETUP_FAULT,
                      SETUP_NO_SUCH_NUMBER, SETUP_DO_CORRECT_LINE,
                      SETUP_WITH({"waba", subject->waba_id}));
    }
}

void setup_check_webhooks(struct setup *setup) {
    const struct setup_subject *subject = setup->subject;
    char time[CLOCK_ISO8601_SIZE];
    for (size_t i = 0; i < subject->line_count; i++) {
        const struct line *line = &subject->lines[i];
        const int64_t last = subject->last[i].webhook;
        const struct setup_place place = {SETUP_LINE, line->phone_number_id};
        if (line->archived_at != INT64_MAX)
            continue;
        if (last == INT64_MIN) {
            setup_add(setup, place, SETUP_WARNING, SETUP_NO_WEBHOOK, SETUP_DO_WRITE,
                      SETUP_WITH({"days", arena_printf(setup->arena, "%d", SETUP_SEARCHED_DAYS)}));
            continue;
        }
        clock_format((last + 1) * USAGE_HOUR_MS, time); /* the end of that hour */
        setup_add(setup, place, SETUP_OK, SETUP_WEBHOOK_STORED, SETUP_NOTHING,
                  SETUP_WITH({"time", time}));
    }
    if (!subject->line_count)
        setup_add_here(setup, SETUP_LINES, SETUP_FAULT, SETUP_NO_LINE, SETUP_DO_IMPORT_LINES,
                       (struct setup_values){0});
}
