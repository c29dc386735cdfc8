#include "control/control_calls.h"

#include <inttypes.h>
#include <stdlib.h>

#include "control/builtin.h"
#include "control/control_reply.h"
#include "control/fixtures.h"
#include "nodes/template_write.h"
#include "state/access_token.h"
#include "state/flow_list.h"
#include "state/media_object.h"
#include "state/media_url.h"
#include "state/node_state.h"
#include "state/number.h"
#include "state/settings.h"
#include "state/template_list.h"
#include "webhooks/webhook_call.h"
#include "webhooks/webhook_kinds.h"
#include "webhooks/webhook_log.h"
#include "webhooks/webhook_verify.h"
#include "wire/faults.h"
#include "wire/recorder.h"
#include "wire/timer.h"

static void health(struct exchange *exchange) {
    control_done(exchange, NULL);
}

static struct record_filter read_filter(const struct exchange *exchange) {
    const char *last = exchange_parameter(exchange, "last");
    return (struct record_filter){.path = exchange_parameter(exchange, "path"),
                                  .method = exchange_parameter(exchange, "method"),
                                  .last = last ? strtoll(last, NULL, 10) : 0};
}

/* The id in the path; `last` is 0, which selects the newest. */
static int64_t read_id(const struct exchange *exchange) {
    return strtoll(exchange_segment(exchange, 2), NULL, 10);
}

static void requests_list(struct exchange *exchange) {
    struct record_filter filter = read_filter(exchange);
    recorder_list(&exchange->reply.body, &filter);
}

static void requests_count(struct exchange *exchange) {
    struct record_filter filter = read_filter(exchange);
    buffer_printf(&exchange->reply.body, "{\"count\":%" PRId64 "}", recorder_count(&filter));
}

static void requests_show(struct exchange *exchange) {
    struct record_filter filter = read_filter(exchange);
    control_found(exchange, recorder_show(&exchange->reply.body, read_id(exchange), &filter));
}

static void requests_body(struct exchange *exchange) {
    struct record_filter filter = read_filter(exchange);
    exchange->reply.type = "application/octet-stream";
    control_found(exchange, recorder_body(&exchange->reply.body, read_id(exchange), &filter));
}

static void requests_clear(struct exchange *exchange) {
    recorder_clear();
    control_done(exchange, NULL);
}

static void faults_add(struct exchange *exchange) {
    int64_t id = 0;
    const char *problem = fault_add(exchange->arena, exchange->json, &id);
    if (problem)
        control_refuse(exchange, 400, problem);
    else
        buffer_printf(&exchange->reply.body, "{\"id\":%" PRId64 "}", id);
}

static void faults_list(struct exchange *exchange) {
    fault_list(&exchange->reply.body);
}

static void faults_clear(struct exchange *exchange) {
    fault_clear();
    timer_release();
    control_done(exchange, NULL);
}

static void settings_show(struct exchange *exchange) {
    settings_print(&exchange->reply.body);
}

static void settings_set(struct exchange *exchange) {
    const char *problem = settings_change(exchange->arena, exchange->json);
    if (problem)
        control_refuse(exchange, 400, problem);
    else
        settings_print(&exchange->reply.body);
}

static void accounts_list(struct exchange *exchange) {
    account_list(&exchange->reply.body);
}

static void accounts_put(struct exchange *exchange) {
    control_done(exchange, account_put(exchange->arena, exchange->json));
}

static void tokens_put(struct exchange *exchange) {
    control_done(exchange, token_put(exchange->json));
}

static void numbers_put(struct exchange *exchange) {
    control_done(exchange, number_put(exchange->arena, exchange->json));
}

static void templates_put(struct exchange *exchange) {
    control_done(exchange, collection_put(exchange->arena, &templates, exchange_body(exchange)));
}

static void templates_clear(struct exchange *exchange) {
    collection_clear(&templates, exchange_parameter(exchange, "wabaId"));
    control_done(exchange, NULL);
}

static void templates_change(struct exchange *exchange) {
    control_done(exchange,
                 template_control(exchange->arena, exchange_segment(exchange, 2), exchange->json));
}

static void nodes_show(struct exchange *exchange) {
    node_state_print(&exchange->reply.body, exchange_segment(exchange, 2));
}

static void nodes_clear(struct exchange *exchange) {
    edges_clear();
    control_done(exchange, NULL);
}

static void flows_put(struct exchange *exchange) {
    control_done(exchange, collection_put(exchange->arena, &flows, exchange_body(exchange)));
}

static void flows_clear(struct exchange *exchange) {
    collection_clear(&flows, exchange_parameter(exchange, "wabaId"));
    control_done(exchange, NULL);
}

static void media_put(struct exchange *exchange) {
    const struct media *made;
    const char *problem = media_make(exchange->arena, exchange->json, &made);
    if (problem)
        control_refuse(exchange, 400, problem);
    else
        media_print(&exchange->reply.body, made);
}

static void media_all(struct exchange *exchange) {
    media_list(&exchange->reply.body);
}

static void media_one(struct exchange *exchange) {
    const struct media *media = media_find(exchange_segment(exchange, 2));
    if (media)
        media_print(&exchange->reply.body, media);
    control_found(exchange, media);
}

static void media_content(struct exchange *exchange) {
    struct reply *reply = &exchange->reply;
    const struct media *media = media_find(exchange_segment(exchange, 2));
    reply->type = "application/octet-stream";
    control_found(exchange,
                  media && media_open(reply->arena, media, 0, media->size, &reply->source));
}

static void media_remove(struct exchange *exchange) {
    media_delete(exchange_segment(exchange, 2));
    control_done(exchange, NULL);
}

static void media_expire(struct exchange *exchange) {
    media_expire_urls();
    control_done(exchange, NULL);
}

void control_clear(void) {
    fault_clear();
    webhook_log_clear();
    recorder_clear();
    fixtures_clear();
}

static void reset(struct exchange *exchange) {
    control_clear();
    if (builtin_load())
        control_done(exchange, NULL);
    else
        control_refuse(exchange, 500, "the fixtures cannot be loaded any more");
}

/* Answers a call that sent webhooks, which fails with the text `problem`. */
static void webhooks_answer(struct exchange *exchange, const char *problem) {
    if (problem)
        control_refuse(exchange, 400, problem);
}

static void webhooks_send(struct exchange *exchange) {
    webhooks_answer(exchange, webhook_call(exchange));
}

static void webhooks_verify(struct exchange *exchange) {
    webhooks_answer(exchange, webhook_verify(exchange));
}

static void webhooks_list(struct exchange *exchange) {
    webhook_log_list(&exchange->reply.body);
}

static void webhooks_kinds(struct exchange *exchange) {
    webhook_kinds_list(&exchange->reply.body);
}

static void webhooks_clear(struct exchange *exchange) {
    webhook_log_clear();
    control_done(exchange, NULL);
}

const struct control_call control_calls[] = {
    {"GET", "health", LOCK_NONE, health, "{done:true}"},
    {"GET", "requests", LOCK_NONE, requests_list,
     "what the platform received, oldest first: [{id, time, method, path, query, headers (names in "
     "lower case), complete, bodyLength, bodySha256, body (text, else null)}]. Query: path= "
     "(substring of path and query), method=, last=N"},
    {"GET", "requests/count", LOCK_NONE, requests_count, "{count}; same query"},
    {"GET", "requests/*", LOCK_NONE, requests_show, "one request, by id or `last`; same query"},
    {"GET", "requests/*/body", LOCK_NONE, requests_body,
     "the raw bytes of its body (not stored for uploads: see media)"},
    {"DELETE", "requests", LOCK_NONE, requests_clear, "delete all requests"},
    {"POST", "faults", LOCK_NONE, faults_add,
     "{match:{method, path (substring), recipient (phone or BSUID), token, body (substring)}, "
     "times "
     "(1; 0 = for ever), skip, status, code (error of the platform), subcode, message, details, "
     "headers:{}, body or bodyBase64, early (before the body is read), kind}. Kinds: hang (seconds "
     "or ms; none = for ever), reset (after the request was carried out), reset_before (after "
     "`bytes` of the body), drip (a byte every ms), garbage, html, huge (bytes), truncate (after "
     "bytes), close_mid_body (after bytes), delay (ms). Without status, code or body the fault "
     "applies to the platform's own answer. Answers {id}"},
    {"GET", "faults", LOCK_NONE, faults_list, "faults that are not used up, with their hits"},
    {"DELETE", "faults", LOCK_NONE, faults_clear,
     "delete all faults; delayed answers are sent now"},
    {"GET", "settings", LOCK_READ, settings_show, "all settings"},
    {"POST", "settings", LOCK_WRITE, settings_set,
     "change some: latencyMs, mediaUrlSeconds, mediaSizeText, templatePageCap, "
     "templatePageCapSilent, flowPageCap, flowPageCapSilent, pagingToken, appSecret, webhookUrl, "
     "verifyToken, webhookVersion, webhookRetries, webhookRetryMs, webhookTimeoutMs, "
     "automaticStatuses, statusDelayMs. If a page cap is set, a larger limit is error 1, or with "
     "the ...Silent setting it is lowered. The links of pages carry the access token, as the "
     "platform's, unless pagingToken is false"},
    {"GET", "accounts", LOCK_READ, accounts_list, "all accounts"},
    {"POST", "accounts", LOCK_WRITE, accounts_put,
     "add or change: {wabaId, token, name, phones:[{id, displayNumber}]}"},
    {"POST", "tokens", LOCK_WRITE, tokens_put, "{token, state: valid|expired|revoked}"},
    {"POST", "numbers", LOCK_WRITE, numbers_put,
     "{number (digits), waId (the wa_id in the answers to its sends), failCode (its automatic "
     "status is failed, with that error)}"},
    {"POST", "templates", LOCK_WRITE, templates_put,
     "{wabaId, items:[...], generate:{count, start, prefix}, replace}; items are returned byte "
     "for byte"},
    {"POST", "templates/*", LOCK_WRITE, templates_change,
     "change members of a template, such as {status:\"APPROVED\"}: one that a client made is "
     "PENDING"},
    {"DELETE", "templates", LOCK_WRITE, templates_clear, "all, or those of ?wabaId="},
    {"GET", "nodes/*", LOCK_READ, nodes_show,
     "what clients changed at the edges of an account or number: {profile, settings, commerce, "
     "registration (with pin and the code of request_code), subscription and webhook (with "
     "verify_token)}"},
    {"DELETE", "nodes", LOCK_WRITE, nodes_clear,
     "delete that of all nodes, and all blocked users, QR codes and upload sessions"},
    {"POST", "flows", LOCK_WRITE, flows_put, "as templates"},
    {"DELETE", "flows", LOCK_WRITE, flows_clear, "as templates"},
    {"GET", "media", LOCK_READ, media_all, "all media: owner, type, size, sha256, part headers"},
    {"POST", "media", LOCK_WRITE, media_put,
     "add media: {wabaId or phoneNumberId, id, mimeType, base64 (its bytes; without it "
     "pseudo-random bytes, which are not stored, of:) size, seed, withoutLength (download "
     "chunked)}"},
    {"POST", "media/expire", LOCK_WRITE, media_expire, "expire all media URLs returned so far"},
    {"GET", "media/*", LOCK_READ, media_one, "one media object"},
    {"GET", "media/*/content", LOCK_READ, media_content, "its bytes"},
    {"DELETE", "media/*", LOCK_WRITE, media_remove, "delete one media object"},
    {"POST", "webhooks", LOCK_READ, webhooks_send,
     "send webhooks now and wait for the answers: {kind, wabaId or phoneNumberId, phone, bsuid, "
     "parentBsuid, name, username, id, timestamp, context (a message id), text, title, groupId, "
     "newPhone, "
     "newBsuid, newParentBsuid, mediaId, flowId, flowResponse, templateId, templateName, language, "
     "event, clickId, callbackData, code (error), count, message, contact, value (merged in as RFC "
     "7396)}, or {updates:[such objects]}, or {body} or {bodyBase64}. A phone alone gets a BSUID "
     "derived from it; `bsuid: null` is a user without one; a bsuid alone is a user whose phone is "
     "withheld. Further members: batch (posts, entries, changes, messages: what shares one POST), "
     "duplicates, reorder (reverse, shuffle), parallel, retries, retryMs, timeoutMs, url (without "
     "it the callback that a client gave number or account, else webhookUrl), "
     "appSecret, signature (good, wrong, missing, or the header itself), build (true: return body "
     "and signature only), wait (false: do not wait). Answers {posts:[{ids, signature, delivered, "
     "bodyLength, body, attempts:[{status, ms, error, answer}]}]}"},
    {"POST", "webhooks/verify", LOCK_READ, webhooks_verify,
     "the verification GET: {url, verifyToken, challenge, mode}; answers as webhooks, ids = the "
     "URL"},
    {"GET", "webhooks/kinds", LOCK_NONE, webhooks_kinds, "all kinds, with their field"},
    {"GET", "webhooks", LOCK_NONE, webhooks_list,
     "what was sent (also automatic statuses), the last 2000"},
    {"DELETE", "webhooks", LOCK_NONE, webhooks_clear, "delete this list"},
    {"POST", "reset", LOCK_NONE, reset, "restore the start: state, settings, requests, faults"},
    {NULL, NULL, LOCK_NONE, NULL, NULL},
};
