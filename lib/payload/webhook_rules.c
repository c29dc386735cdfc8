#include "payload/webhook_rules.h"

#include "base/crypto.h"
#include "store/event_type.h"
#include "store/user_webhook.h"

enum { CODE_BYTES = 32 };

const char *const webhook_kinds[] = {WEBHOOK_EVENT, WEBHOOK_FORWARD, NULL};

const char *const webhook_event_types[] = {EVENT_TYPES(EVENT_TYPE_NAME) NULL};

static const char *const event_type_meanings[] = {EVENT_TYPES(EVENT_TYPE_MEANING) NULL};

const struct vocabulary webhook_event_vocabulary = {
    .schema = "EventType", .meanings = event_type_meanings, .preset = &EVENT_TYPES_ON[1]};

const char *const webhook_updates[] = {"messages", "statuses", "echoes", NULL};

static const char *check_field(struct slice text) {
    static const char problem[] =
        "must be a field of the platform's webhooks, such as messages, or * for all fields";
    if (slice_equal(text, SLICE(WEBHOOK_ALL_FIELDS)))
        return NULL;
    for (size_t i = 0; i < text.n; i++) {
        bool is_letter = text.p[i] >= 'a' && text.p[i] <= 'z';
        bool is_other = (text.p[i] >= '0' && text.p[i] <= '9') || text.p[i] == '_';
        if (!is_letter && !(i && is_other))
            return problem;
    }
    return text.n ? NULL : problem;
}

const struct text_rule webhook_field_rule = {
    .meaning = "a field of the platform's webhooks, or *",
    .pattern = "^([a-z][a-z0-9_]*|\\*)$",
    .longest = 64,
    .check = check_field,
};

const struct text_rule webhook_name_rule = {.meaning = "a name of at most 256 bytes",
                                            .longest = 256};

const struct text_rule webhook_code_rule = {.meaning = "a secret of at most 1024 bytes",
                                            .longest = 1024};

struct slice webhook_code_make(struct arena *arena) {
    unsigned char random[CODE_BYTES];
    crypto_random(random, sizeof random);
    return slice_of(crypto_hex(arena, random, sizeof random));
}

size_t webhook_find_duplicate(const char *const *items, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(items[i], items[j]) == 0)
                return i;
    return count;
}
