#include "state.h"

#include <pthread.h>
#include <string.h>

struct settings settings;

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct settings remembered;

static const struct json_field setting_fields[] = {
    {"latencyMs", JSON_NUMBER, offsetof(struct settings, latency_ms)},
    {"mediaUrlSeconds", JSON_NUMBER, offsetof(struct settings, media_url_seconds)},
    {"mediaSizeText", JSON_FLAG, offsetof(struct settings, media_size_text)},
    {"templatePageCap", JSON_NUMBER, offsetof(struct settings, template_page_cap)},
    {"templatePageCapSilent", JSON_FLAG, offsetof(struct settings, template_page_cap_silent)},
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
    {NULL, JSON_ELSEWHERE, 0},
};

void state_read(void) {
    pthread_rwlock_rdlock(&lock);
}

void state_write(void) {
    pthread_rwlock_wrlock(&lock);
}

void state_done(void) {
    pthread_rwlock_unlock(&lock);
}

static void settings_copy(struct settings *to, const struct settings *from) {
    json_fields_release(to, setting_fields);
    *to = *from;
    to->app_secret = memory_text(from->app_secret);
    to->webhook_url = memory_text(from->webhook_url);
    to->verify_token = memory_text(from->verify_token);
}

void settings_reset(void) {
    settings_copy(&settings, &remembered);
}

void settings_remember(void) {
    settings_copy(&remembered, &settings);
}

char *settings_change(const cJSON *json) {
    return json_fill(&settings, setting_fields, json);
}

void settings_print(struct bytes *out) {
    json_fields_print(out, &settings, setting_fields);
}
