/* /v2/campaigns: a template that is sent to a list of people, once to each. */
#include <stdlib.h>

#include "api/auth.h"
#include "api/campaign/campaign_import.h"
#include "api/campaign/campaign_report.h"
#include "api/campaign/campaign_trial.h"
#include "api/campaign/campaign_warning.h"
#include "api/campaign/campaign_window.h"
#include "api/idempotency.h"
#include "api/paging.h"
#include "api/period.h"
#include "api/request_trail.h"
#include "api/send_check.h"
#include "api/template_find.h"
#include "base/http_client.h"
#include "payload/campaign_json.h"
#include "payload/columns.h"
#include "payload/event_body.h"
#include "store/campaign.h"

enum {
    SECOND = 1000,
    DAY_S = 24 * 60 * 60,
    VALID_PRESET_S = 3 * DAY_S,
    VALID_MOST_S = 30 * DAY_S,
    AHEAD_DAYS = 30,
    LATE_MS = 60 * SECOND, /* a sendAt that is over for less is now: clocks differ */
    RATE_MOST = 1000,
};

/* --- GET --- */

static int fail_campaign(struct request *rq, enum store_result result) {
    return state_fail_absent(rq, result,
                             "There is no such campaign; GET /v2/campaigns lists them.");
}

static int find_campaign(struct request *rq, struct store_campaign *campaign) {
    enum store_result result = store_find_campaign(
        rq->caller->store, rq->arena, rq->caller->user.id, request_segment(rq), campaign);
    return result == STORE_OK ? 0 : fail_campaign(rq, result);
}

/* `warnings` p == NULL: the answer has none. */
static int reply_with(struct request *rq, const char *id, struct slice warnings) {
    const struct caller *caller = rq->caller;
    struct store_campaign campaign;
    struct store_campaign_count *counts;
    struct json_writer data;
    size_t count;
    enum store_result result =
        store_find_campaign(caller->store, rq->arena, caller->user.id, id, &campaign);
    if (result == STORE_OK)
        result = store_count_campaign(caller->store, rq->arena, id, &counts, &count);
    if (result != STORE_OK)
        return fail_campaign(rq, result);
    reply_start(rq, &data);
    campaign_json_write(&data, &campaign, rq->now);
    campaign_json_write_counts(&data, &campaign, counts, count);
    if (warnings.p)
        json_write_raw(&data, "warnings", warnings);
    return reply_object(rq, &data);
}

static int reply_campaign(struct request *rq, const char *id) {
    return reply_with(rq, id, (struct slice){NULL, 0});
}

static int get_campaign(struct request *rq) {
    return reply_campaign(rq, request_segment(rq));
}

static const struct field list_query[] = {PAGING_FIELDS, {0}};

static int get_campaigns(struct request *rq) {
    struct store_page page;
    struct store_campaign *rows;
    struct json_writer data;
    size_t count;
    if (paging_page(rq, "cmp_", &page))
        return -1;
    enum store_result result = store_list_campaigns(rq->caller->store, rq->arena,
                                                    rq->caller->user.id, &page, &rows, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++) {
        json_write_object(&data, NULL);
        campaign_json_write(&data, &rows[i], rq->now);
        json_write_end(&data);
    }
    return paging_reply(rq, &data, has_more ? rows[count - 1].id : NULL);
}

/* --- POST /v2/campaigns --- */

static const struct text_rule name_rule = {.meaning = "a name", .longest = 200};

static const struct field create_fields[] = {
    LINE_FIELD,
    {.name = "name",
     .type = FIELD_STRING,
     .required = true,
     .rule = &name_rule,
     .example = "Autumn"},
    {.name = "templateName", .type = FIELD_STRING, .required = true},
    {.name = "language", .type = FIELD_STRING, .required = true, .example = "en_US"},
    {.name = "components", .type = FIELD_ARRAY},
    {.name = "rate", .type = FIELD_INTEGER, .min = 1, .max = RATE_MOST},
    {.name = "window", .type = FIELD_OBJECT, .fields = campaign_window_fields},
    {.name = "validFor", .type = FIELD_INTEGER, .min = 1, .max = VALID_MOST_S},
    {0},
};

/* The component of this type, in a template or in a send, in upper or lower case. */
static struct json component_of(struct request *rq, struct json components, const char *type) {
    for (struct json c = json_first(components); json_is(c); c = json_next(c)) {
        const char *own = json_text(json_get(c, "type"), rq->arena);
        if (own && strcasecmp(own, type) == 0)
            return c;
    }
    return (struct json){0};
}

/* How many different parameters the text of a template's component has. */
static size_t count_parameters(struct request *rq, struct json component) {
    struct slice rest = json_string(json_get(component, "text"), rq->arena), before, name;
    struct slice names[100];
    struct columns seen = {names, 0};
    if (!rest.p)
        return 0;
    for (columns_next(&rest, &before, &name); name.p; columns_next(&rest, &before, &name))
        if (seen.count < 100 && columns_find(&seen, name) == seen.count)
            names[seen.count++] = name;
    return seen.count;
}

static int check_parameters(struct request *rq, struct json template, const char *type) {
    struct json own = component_of(rq, json_get(template, "components"), type);
    struct json sent = component_of(rq, json_get(rq->json, "components"), type);
    const char *format = json_text(json_get(own, "format"), rq->arena);
    const size_t wanted = count_parameters(rq, own),
                 given = json_count(json_get(sent, "parameters"));
    if (wanted == given || (format && strcmp(format, "TEXT") != 0))
        return 0;
    return fail(rq, INVALID, "The %s of the template has %zu parameters, but components has %zu.",
                type, wanted, given);
}

static int check_template(struct request *rq, const char **category) {
    struct json template;
    if (template_find(rq, &rq->caller->line.account,
                      json_string(json_get(rq->json, "templateName"), rq->arena),
                      json_string(json_get(rq->json, "language"), rq->arena),
                      "id,name,language,status,category,components", &template))
        return -1;
    const char *status = json_text(json_get(template, "status"), rq->arena);
    *category = json_text(json_get(template, "category"), rq->arena);
    if (!status || strcmp(status, "APPROVED") != 0)
        return fail(rq, CONFLICT, "The template is not APPROVED but %s.",
                    status ? status : "without a status");
    return check_parameters(rq, template, "header") || check_parameters(rq, template, "body") ? -1
                                                                                              : 0;
}

static int answer_again(struct request *rq, const char *request_id, const void *none) {
    (void)none;
    return reply_campaign(rq, idempotency_id(rq, "cmp_", request_id));
}

static int make_campaign(struct request *rq, const char *request_id, const void *none) {
    (void)none;
    const struct caller *caller = rq->caller;
    struct json components = json_get(rq->json, "components");
    int64_t valid_s = VALID_PRESET_S;
    struct store_campaign campaign = {
        .id = idempotency_id(rq, "cmp_", request_id),
        .user_id = caller->user.id,
        .account_id = caller->line.account_id,
        .line_id = caller->line.id,
        .name = json_text(json_get(rq->json, "name"), rq->arena),
        .template_name = json_text(json_get(rq->json, "templateName"), rq->arena),
        .language = json_text(json_get(rq->json, "language"), rq->arena),
        .components = json_is(components) ? json_raw(components) : SLICE("[]"),
        .created_at = rq->now,
        .by = caller->actor,
    };
    json_integer(json_get(rq->json, "rate"), &campaign.rate);
    json_integer(json_get(rq->json, "validFor"), &valid_s);
    campaign.valid_ms = valid_s * SECOND;
    if (campaign_window_read(rq, &campaign.window) || check_template(rq, &campaign.category))
        return -1;
    enum store_result result = store_insert_campaign(caller->store, &campaign);
    return result == STORE_OK ? reply_campaign(rq, campaign.id) : state_fail(rq, result);
}

static int post_campaign(struct request *rq) {
    return idempotency_run(rq, make_campaign, answer_again);
}

/* --- PUT .../recipients, GET .../recipients.csv --- */

static int put_recipients(struct request *rq) {
    struct store_campaign campaign;
    if (find_campaign(rq, &campaign))
        return -1;
    return campaign_import(rq, &campaign);
}

static int get_report(struct request *rq) {
    struct store_campaign campaign;
    return find_campaign(rq, &campaign) ? -1 : campaign_report(rq, &campaign);
}

/* --- POST .../test --- */

static int post_test(struct request *rq) {
    struct store_campaign campaign;
    return find_campaign(rq, &campaign) ? -1 : campaign_trial(rq, &campaign);
}

/* --- POST .../start, /pause, /resume, /cancel --- */

static const struct field start_fields[] = {
    {.name = "sendAt",
     .type = FIELD_STRING,
     .rule = &period_moment_rule,
     .example = PERIOD_TIME_EXAMPLE},
    {0},
};
/* What a start or a resume has in addition. */
struct addition {
    int64_t start_at;
    const char *open_times; /* of its window; NULL: none */
    struct slice warnings;
};

static int change(struct request *rq, enum campaign_deed deed, const struct addition *addition) {
    const char *id = request_segment(rq);
    enum store_result result =
        store_change_campaign(rq->caller->store, rq->caller->user.id, id, deed, addition->start_at,
                              addition->open_times, rq->now, event_body);
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT,
                    "The state of the campaign does not allow that; GET /v2/campaigns/:campaignId "
                    "has it.");
    return result == STORE_OK ? reply_with(rq, id, addition->warnings) : fail_campaign(rq, result);
}

/* How many the campaign has left to reach. */
static int count_ahead(struct request *rq, const char *id, int64_t *ahead) {
    struct store_campaign_count *list;
    size_t n;
    enum store_result result = store_count_campaign(rq->caller->store, rq->arena, id, &list, &n);
    if (result != STORE_OK)
        return state_fail(rq, result);
    *ahead = 0;
    for (size_t i = 0; i < n; i++)
        if (list[i].measure == CAMPAIGN_STATE &&
            (strcmp(list[i].name, "waiting") == 0 || strcmp(list[i].name, "queued") == 0))
            *ahead += list[i].count;
    return 0;
}

/* Lets the campaign send from `start_at` on. */
static int set_running(struct request *rq, const struct store_campaign *campaign,
                       enum campaign_deed deed, int64_t start_at) {
    struct addition addition = {.start_at = start_at};
    int64_t ahead = 0;
    if (count_ahead(rq, campaign->id, &ahead) ||
        campaign_window_times(rq, campaign, start_at, &addition.open_times) ||
        campaign_warnings(rq, campaign, ahead, &addition.warnings))
        return -1;
    return change(rq, deed, &addition);
}

static int post_start(struct request *rq) {
    struct store_campaign campaign;
    const int64_t send_at =
        period_time(json_string(json_get(rq->json, "sendAt"), rq->arena), rq->now);
    if (send_at < rq->now - LATE_MS)
        return fail(rq, INVALID, "sendAt must not be in the past.");
    if (send_at > rq->now + AHEAD_DAYS * DAY_S * INT64_C(1000))
        return fail(rq, INVALID, "sendAt must be at most %d days ahead.", AHEAD_DAYS);
    if (find_campaign(rq, &campaign) || send_check_queue(rq))
        return -1;
    return set_running(rq, &campaign, CAMPAIGN_START, send_at > rq->now ? send_at : rq->now);
}

static int post_pause(struct request *rq) {
    return change(rq, CAMPAIGN_PAUSE, &(struct addition){.start_at = rq->now});
}

static int post_resume(struct request *rq) {
    struct store_campaign campaign;
    if (find_campaign(rq, &campaign))
        return -1;
    const int64_t start_at =
        campaign.start_at != INT64_MAX && campaign.start_at > rq->now ? campaign.start_at : rq->now;
    return set_running(rq, &campaign, CAMPAIGN_RESUME, start_at);
}

static int post_cancel(struct request *rq) {
    return change(rq, CAMPAIGN_CANCEL, &(struct addition){.start_at = rq->now});
}

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/campaigns",
     .scope = SCOPE_READ, .guard = &caller_guard, .handle = get_campaigns, .query = list_query},
    {.method = "POST", .path = "/v2/campaigns",
     .trail = "campaign.create",
     .scope = SCOPE_SEND, .guard = &line_guard, .handle = post_campaign, .fields = create_fields},
    {.method = "GET", .path = "/v2/campaigns/:campaignId",
     .scope = SCOPE_READ, .guard = &caller_guard, .handle = get_campaign},
    {.method = "PUT", .path = "/v2/campaigns/:campaignId/recipients",
     .trail = NO_TRAIL("the start of the campaign is the trace"),
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = put_recipients,
     .query = campaign_import_query, .body = BODY_STREAM},
    {.method = "GET", .path = "/v2/campaigns/:campaignId/recipients.csv",
     .scope = SCOPE_READ, .guard = &caller_guard, .handle = get_report},
    {.method = "POST", .path = "/v2/campaigns/:campaignId/test",
     .trail = TRAIL_MESSAGE,
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = post_test,
     .fields = campaign_trial_fields},
    {.method = "POST", .path = "/v2/campaigns/:campaignId/start",
     .trail = "campaign.start",
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = post_start, .fields = start_fields},
    {.method = "POST", .path = "/v2/campaigns/:campaignId/pause",
     .trail = "campaign.pause",
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = post_pause, .fields = field_none},
    {.method = "POST", .path = "/v2/campaigns/:campaignId/resume",
     .trail = "campaign.resume",
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = post_resume, .fields = field_none},
    {.method = "POST", .path = "/v2/campaigns/:campaignId/cancel",
     .trail = "campaign.cancel",
     .scope = SCOPE_SEND, .guard = &caller_guard, .handle = post_cancel, .fields = field_none},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "campaigns",
                                     .routes = routes,
                                     .needs = WRITES_DATABASE | USES_KEYS | CALLS_PLATFORM |
                                              KEEPS_RECORDS | READS_ZONES,
                                     .load = http_prepare};
