#include "state/settings.h"

#include "text/memory.h"

struct settings settings;

static struct settings remembered;

static const struct json_field setting_fields[] = {
    {"latencyMs", JSON_NUMBER, offsetof(struct settings, latency_ms)},
    {"mediaUrlSeconds", JSON_NUMBER, offsetof(struct settings, media_url_seconds)},
    {"mediaSizeText", JSON_FLAG, offsetof(struct settings, media_size_text)},
    {"templatePageCap", JSON_NUMBER, offsetof(struct settings, template_page_cap)},
    {"templatePageCapSilent", JSON_FLAG, offsetof(struct settings, template_page_cap_silent)},
    {"templateQuotas", JSON_FLAG, offsetof(struct settings, template_quotas)},
    {"templateReviewMs", JSON_NUMBER, offsetof(struct settings, template_review_ms)},
    {"templateReviewReason", JSON_TEXT, offsetof(struct settings, template_review_reason)},
    {"flowPageCap", JSON_NUMBER, offsetof(struct settings, flow_page_cap)},
    {"flowPageCapSilent", JSON_FLAG, offsetof(struct settings, flow_page_cap_silent)},
    {"pagingToken", JSON_FLAG, offsetof(struct settings, paging_token)},
    {"appSecret", JSON_TEXT, offsetof(struct settings, app_secret)},
    {"webhookUrl", JSON_TEXT, offsetof(struct settings, webhook_url)},
    {"verifyToken", JSON_TEXT, offsetof(struct settings, verify_token)},
    {"webhookVersion", JSON_NUMBER, offsetof(struct settings, webhook_version)},
    {"webhookRetries", JSON_NUMBER, offsetof(struct settings, webhook_retries)},
    {"webhookRetryMs", JSON_NUMBER, offsetof(struct settings, webhook_retry_ms)},
    {"webhookTimeoutMs", JSON_NUMBER, offsetof(struct settings, webhook_timeout_ms)},
    {"automaticStatuses", JSON_FLAG, offsetof(struct settings, automatic_statuses)},
    {"statusDelayMs", JSON_NUMBER, offsetof(struct settings, status_delay_ms)},
    {"serviceWindow", JSON_FLAG, offsetof(struct settings, service_window)},
    {"messagesPerSecond", JSON_NUMBER, offsetof(struct settings, messages_per_second)},
    {"pairMessages", JSON_NUMBER, offsetof(struct settings, pair_messages)},
    {"marketingMessages", JSON_NUMBER, offsetof(struct settings, marketing_messages)},
    {"templateMessages", JSON_NUMBER, offsetof(struct settings, template_messages)},
    {"heldTemplates", JSON_FLAG, offsetof(struct settings, held_templates)},
    {NULL, JSON_ELSEWHERE, 0},
};

/* Returns a copy of the settings whose texts lie in an arena of its own. */
static struct settings settings_copy(const struct settings *from) {
    struct settings copy = *from;
    copy.arena = memory_open();
    json_fields_copy(copy.arena, &copy, setting_fields);
    return copy;
}

static void settings_replace(struct settings next) {
    memory_close(settings.arena);
    settings = next;
}

void settings_reset(void) {
    settings_replace(settings_copy(&remembered));
}

void settings_remember(void) {
    remembered = settings_copy(&settings);
}

void settings_free(void) {
    memory_close(settings.arena);
    memory_close(remembered.arena);
}

const char *settings_change(struct arena *arena, const cJSON *json) {
    struct settings next = settings_copy(&settings);
    const char *problem = json_fill(next.arena, &next, setting_fields, json);
    if (problem) {
        problem = arena_copy(arena, slice_of(problem));
        memory_close(next.arena);
        return problem;
    }
    settings_replace(next);
    return NULL;
}

void settings_print(struct buffer *out) {
    json_fields_print(out, &settings, setting_fields);
}
