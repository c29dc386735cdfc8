#include "graph/setup_number.h"

#include "base/clock.h"

#define WHATSAPP_MANAGER "look at the number in WhatsApp Manager"

static const char register_todo[] =
    "verify the number by a code and register it: POST /PHONE_NUMBER_ID/register with a PIN";

static const struct setup_word states[] = {
    {"CONNECTED", SETUP_OK, NULL},
    {"PENDING", SETUP_FAULT, register_todo},
    {"DISCONNECTED", SETUP_FAULT, register_todo},
    {"UNVERIFIED", SETUP_FAULT, register_todo},
    {"MIGRATED", SETUP_FAULT, "the number is at another account: archive the line here"},
    {"DELETED", SETUP_FAULT, "the number was deleted: archive the line here"},
    {"FLAGGED", SETUP_WARNING, "raise its quality: write to people who asked for it only"},
    {"RATE_LIMITED", SETUP_WARNING, "send less, or wait for a higher limit"},
    {"RESTRICTED", SETUP_FAULT, WHATSAPP_MANAGER ", and appeal there"},
    {"BANNED", SETUP_FAULT, WHATSAPP_MANAGER ", and appeal there"},
    {NULL, SETUP_WARNING, NULL}};

static const struct setup_word names[] = {
    {"APPROVED", SETUP_OK, NULL},
    {"AVAILABLE_WITHOUT_REVIEW", SETUP_OK, NULL},
    {"PENDING_REVIEW", SETUP_WARNING, "wait for the review of the display name"},
    {"DECLINED", SETUP_FAULT, "choose another display name in WhatsApp Manager"},
    {"EXPIRED", SETUP_FAULT, "register the number again, so that its name is in use"},
    {"NONE", SETUP_WARNING, "give the number a display name in WhatsApp Manager"},
    {NULL, SETUP_WARNING, NULL}};

static const struct setup_word types[] = {
    {"CLOUD_API", SETUP_OK, NULL},
    {"NOT_APPLICABLE", SETUP_FAULT, register_todo},
    {"ON_PREMISE", SETUP_FAULT, "move the number to the Cloud API: register it there"},
    {NULL, SETUP_WARNING, NULL}};

static const struct setup_word qualities[] = {
    {"GREEN", SETUP_OK, NULL},
    {"UNKNOWN", SETUP_OK, NULL},
    {"NA", SETUP_OK, NULL},
    {"YELLOW", SETUP_WARNING, "write to people who asked for it only"},
    {"RED", SETUP_FAULT, "stop what people block or report, before the number is flagged"},
    {NULL, SETUP_WARNING, NULL}};

static const struct setup_line *find_line(const struct setup *setup, const char *id) {
    const struct setup_subject *subject = setup->subject;
    for (size_t i = 0; i < subject->line_count; i++)
        if (strcmp(subject->lines[i].phone_number_id, id) == 0)
            return &subject->lines[i];
    return NULL;
}

static void check_line(struct setup *setup, const char *check, const struct phone_number *number) {
    const struct setup_line *line = find_line(setup, number->id);
    const char *shown = number->display ? number->display : "without a number";
    if (line)
        setup_add(setup, SETUP_OK, check, NULL, "%s is a line of the gateway%s", shown,
                  line->is_archived ? ", archived" : "");
    else
        setup_add(setup, SETUP_WARNING, check, "`switchboard line import` adds it",
                  "%s is no line of the gateway: its messages are not stored", shown);
}

static void check_number(struct setup *setup, const struct phone_number *number) {
    const char *check = arena_printf(setup->arena, "number %s", number->id);
    bool is_connected = number->status && strcmp(number->status, "CONNECTED") == 0;
    check_line(setup, check, number);
    setup_add_word(setup, check, "status", number->status, states);
    if (!is_connected && number->verification && strcmp(number->verification, "VERIFIED") != 0)
        setup_add(setup, SETUP_FAULT, check,
                  "POST /PHONE_NUMBER_ID/request_code, then verify_code, then register",
                  "code_verification_status is %s", number->verification);
    setup_add_word(setup, check, "name_status", number->name_status, names);
    setup_add_word(setup, check, "platform_type", number->platform_type, types);
    setup_add_word(setup, check, "quality_rating", number->quality, qualities);
    if (number->throughput)
        setup_add(setup, SETUP_OK, check, NULL, "throughput is %s", number->throughput);
    if (number->limit)
        setup_add(setup, SETUP_OK, check, NULL, "messaging limit is %s", number->limit);
    setup_add_health(setup, check, number->health);
    setup_add_override(setup, check, number->webhook);
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
        setup_add(setup, SETUP_WARNING, "numbers", "repeat the check later", "%s",
                  setup_refusal(setup, &answer));
        return;
    }
    if (!count)
        setup_add(setup, SETUP_FAULT, "numbers", "add a number in WhatsApp Manager",
                  "the account has no number");
    for (size_t i = 0; i < count; i++)
        check_number(setup, &numbers[i]);
    for (size_t i = 0; i < subject->line_count; i++)
        if (!subject->lines[i].is_archived &&
            !is_listed(numbers, count, subject->lines[i].phone_number_id))
            setup_add(setup, SETUP_FAULT,
                      arena_printf(setup->arena, "line %s", subject->lines[i].phone_number_id),
                      "correct its id, or archive it with `switchboard line archive`",
                      "the platform's account %s has no such number", subject->waba_id);
}

void setup_check_webhooks(struct setup *setup) {
    const struct setup_subject *subject = setup->subject;
    char time[CLOCK_ISO8601_SIZE];
    for (size_t i = 0; i < subject->line_count; i++) {
        const struct setup_line *line = &subject->lines[i];
        const char *check = arena_printf(setup->arena, "line %s", line->phone_number_id);
        if (line->is_archived)
            continue;
        if (line->webhook_at == INT64_MIN) {
            setup_add(setup, SETUP_WARNING, check,
                      "write a WhatsApp message to its number now; if none arrives, the rows above "
                      "and the log say why",
                      "no webhook was stored in the last %d days", subject->days);
            continue;
        }
        clock_format(line->webhook_at, time);
        setup_add(setup, SETUP_OK, check, NULL, "a webhook was stored in the hour before %s", time);
    }
    if (!subject->line_count)
        setup_add(setup, SETUP_FAULT, "lines", "`switchboard line import` adds them",
                  "the account has no line at the gateway");
}
