#include "webhooks/webhook_verify.h"

#include <sodium.h>

#include "state/settings.h"
#include "text/json_fields.h"
#include "text/json_print.h"
#include "text/text.h"

static const struct json_field verification_fields[] = {
    {"url", JSON_TEXT, offsetof(struct verification, url)},
    {"verifyToken", JSON_TEXT, offsetof(struct verification, verify_token)},
    {"challenge", JSON_TEXT, offsetof(struct verification, challenge)},
    {"mode", JSON_TEXT, offsetof(struct verification, mode)},
    {NULL, JSON_ELSEWHERE, 0},
};

static const char *verification_url(struct arena *arena, const struct verification *options) {
    struct buffer url = buffer_in(arena);
    const char *base = options->url ? options->url : settings.webhook_url;
    const char *token = options->verify_token ? options->verify_token : settings.verify_token;
    buffer_printf(&url, "%s%chub.mode=", base, strchr(base, '?') ? '&' : '?');
    url_encode(&url, options->mode ? options->mode : "subscribe");
    buffer_add_text(&url, "&hub.challenge=");
    if (options->challenge)
        url_encode(&url, options->challenge);
    else
        buffer_printf(&url, "%u", randombytes_random());
    buffer_add_text(&url, "&hub.verify_token=");
    url_encode(&url, token ? token : "");
    return url.p;
}

void verification_fill(struct job *job, const struct verification *options) {
    struct buffer ids = buffer_in(job->arena);
    const char *url = verification_url(job->arena, options);
    buffer_add_char(&ids, '[');
    json_quote_text(&ids, url);
    buffer_add_char(&ids, ']');
    job->posts = arena_alloc(job->arena, sizeof *job->posts);
    job->count = 1;
    job->posts[0] = (struct post){.get = true, .url = url, .ids = buffer_slice(&ids)};
    job->rules = send_rules_default();
    job->rules.retries = 0;
}

const char *webhook_verify(struct exchange *exchange) {
    struct verification options = {0};
    const char *problem =
        exchange->json ? json_fill(exchange->arena, &options, verification_fields, exchange->json)
                       : NULL;
    if (problem)
        return problem;
    if (!options.url && !settings.webhook_url)
        return "no url here, and no webhookUrl in the settings";
    struct job *job = job_new();
    verification_fill(job, &options);
    job->exchange = exchange;
    if (job_start(job))
        return NULL;
    job_free(job);
    return "too many webhook calls at once";
}
