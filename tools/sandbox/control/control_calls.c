#include "control/control_calls.h"

#include <inttypes.h>
#include <stdlib.h>

#include "control/fixtures.h"
#include "control/phone_page.h"
#include "nodes/edges.h"
#include "state/chat.h"
#include "state/flow_list.h"
#include "state/media_object.h"
#include "state/media_url.h"
#include "state/node_answer.h"
#include "state/node_state.h"
#include "state/settings.h"
#include "state/template_list.h"
#include "text/json_print.h"
#include "webhooks/webhook_call.h"
#include "webhooks/webhook_kinds.h"
#include "webhooks/webhook_post.h"
#include "webhooks/webhook_verify.h"
#include "wire/faults.h"
#include "wire/recorder.h"
#include "wire/timer.h"

void control_refuse(struct exchange *exchange, int status, const char *problem) {
    struct buffer *out = &exchange->reply.body;
    out->n = 0;
    exchange->reply.status = status;
    buffer_add_text(out, "{\"error\":");
    json_quote_text(out, problem);
    buffer_add_text(out, "}\n");
}

void control_done(struct exchange *exchange, const char *problem) {
    if (problem)
        control_refuse(exchange, 400, problem);
    else if (exchange->reply.body.n == 0)
        buffer_add_text(&exchange->reply.body, "{\"done\":true}");
}

/* Answers 404 unless `found`. */
static void control_found(struct exchange *exchange, bool found) {
    if (!found)
        control_refuse(exchange, 404, "there is none");
}

/* --- Requests --- */

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

/* --- Faults --- */

static void faults_add(struct exchange *exchange) {
    int64_t id = 0;
    const char *problem = fault_add(exchange->arena, exchange->json, &id);
    buffer_printf(&exchange->reply.body, "{\"id\":%" PRId64 "}", id);
    control_done(exchange, problem);
}

static void faults_clear(void) {
    fault_clear();
    timer_release();
}

/* --- State --- */

/* The path names the member of a fixtures text that has such bodies. */
static void state_put(struct exchange *exchange) {
    control_done(exchange, fixtures_put(exchange->arena, exchange_segment(exchange, 1),
                                        exchange->json, exchange_body(exchange)));
}

static void state_replace(struct exchange *exchange) {
    control_done(exchange, fixtures_replace(exchange->arena, exchange_body(exchange)));
}

static void settings_set(struct exchange *exchange) {
    const char *problem = settings_change(exchange->arena, exchange->json);
    settings_print(&exchange->reply.body);
    control_done(exchange, problem);
}

static void templates_clear(struct exchange *exchange) {
    collection_clear(&templates, exchange_parameter(exchange, "wabaId"));
    control_done(exchange, NULL);
}

static void templates_change(struct exchange *exchange) {
    bool waits = false;
    const char *problem = template_control(exchange, exchange_segment(exchange, 2), &waits);
    if (!waits)
        control_done(exchange, problem);
}

static void nodes_show(struct exchange *exchange) {
    node_state_print(&exchange->reply.body, exchange_segment(exchange, 2));
}

static void nodes_answer(struct exchange *exchange) {
    control_done(exchange, node_answer_put(exchange_segment(exchange, 2), exchange->json));
}

static void flows_clear(struct exchange *exchange) {
    collection_clear(&flows, exchange_parameter(exchange, "wabaId"));
    control_done(exchange, NULL);
}

static void media_put(struct exchange *exchange) {
    const struct media *made;
    const char *problem = media_make(exchange->arena, exchange->json, &made);
    if (!problem)
        media_print(&exchange->reply.body, made);
    control_done(exchange, problem);
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

/* --- Webhooks --- */

static void webhooks_send(struct exchange *exchange) {
    const char *problem = webhook_call(exchange);
    if (problem)
        control_refuse(exchange, 400, problem);
}

static void webhooks_verify(struct exchange *exchange) {
    const char *problem = webhook_verify(exchange);
    if (problem)
        control_refuse(exchange, 400, problem);
}

/* --- The phone --- */

static void phone_file(struct exchange *exchange) {
    control_found(exchange, phone_page_file(exchange));
}

static void chat_show(struct exchange *exchange) {
    control_done(exchange, phone_page_chat(exchange));
}

static void chat_change(struct exchange *exchange) {
    control_done(exchange, phone_page_block(exchange));
}

static void flows_json(struct exchange *exchange) {
    control_found(exchange,
                  flow_json(exchange->arena, &exchange->reply.body, exchange_segment(exchange, 2)));
}

/* --- All --- */

void control_clear(void) {
    fault_clear();
    webhook_log_clear();
    recorder_clear();
    chat_clear();
    fixtures_clear();
}

static void health(struct exchange *exchange) {
    control_done(exchange, NULL);
}

static void reset(struct exchange *exchange) {
    control_clear();
    if (fixtures_start())
        control_done(exchange, NULL);
    else
        control_refuse(exchange, 500, "the fixtures cannot be loaded any more");
}

/* --- The table --- */

static const struct control_member request_query[] = {
    {"path", "a part of path and query"},
    {"method", "such as POST"},
    {"last", "the last N of them"},
    {NULL, NULL},
};

static const struct control_member fault_members[] = {
    {"match", "the requests: `{method, path, recipient, token, body}`; path and body are parts of "
              "them, recipient is a phone number or a user id; without it all"},
    {"times", "how many of them, 1 unless given; 0: all"},
    {"skip", "how many to leave out before"},
    {"status", "the HTTP status, 200 to 599"},
    {"code, subcode, message, details", "an error of the platform, by its code"},
    {"headers", "an object of headers to add"},
    {"body, bodyBase64", "the body of the answer"},
    {"early", "true: answers before the body of the request is read"},
    {"kind", "what else happens: `hang` (no answer for `seconds` or `ms`, else for ever), `reset` "
             "(after the request was carried out), `reset_before` (after `bytes` of its body), "
             "`drip` (a byte every `ms`), `garbage`, `html`, `huge` (of `bytes`), `truncate` and "
             "`close_mid_body` (after `bytes`), `delay` (by `ms`)"},
    {"seconds, ms, bytes", "see kind"},
    {NULL, NULL},
};

static const struct control_member settings_members[] = {
    {"latencyMs", "the delay of each answer of the platform"},
    {"mediaUrlSeconds", "how long the URL of media is valid"},
    {"mediaSizeText", "true: the size of media is a text"},
    {"templatePageCap, flowPageCap", "the largest limit of a page; a larger one is error 1"},
    {"templatePageCapSilent, flowPageCapSilent", "true: a larger one is lowered"},
    {"templateQuotas", "false: more than 100 new templates in an hour, more than one edit of an "
                       "approved template in 24 hours and ten in 30 days, and a deleted name are "
                       "not refused"},
    {"templateReviewMs", "the time after which a new or edited template is reviewed, as with "
                         "`--review-seconds`; 0: it stays PENDING until a control call"},
    {"templateReviewReason", "why that review rejects the template, such as INVALID_FORMAT; empty: "
                             "it approves it"},
    {"pagingToken", "false: the links of pages are without the access token, unlike those of the "
                    "platform"},
    {"appSecret", "the key that signs webhooks"},
    {"webhookUrl", "where webhooks go to"},
    {"verifyToken", "the token of the verification of that URL"},
    {"webhookVersion", "the version of the Graph API for webhooks; 23 and older have conversation"},
    {"webhookRetries, webhookRetryMs", "attempts after the first, and the time to the second, "
                                       "doubled after each"},
    {"webhookTimeoutMs", "the longest time for an answer"},
    {"automaticStatuses", "true: sent, delivered and read follow each message, or failed one that "
                          "is not delivered"},
    {"statusDelayMs", "the time between them"},
    {"serviceWindow", "false: each user counts as one who wrote in the last 24 hours, as with "
                      "`--no-service-window`"},
    {"messagesPerSecond",
     "the most messages of a number in a second; more are refused with 130429"},
    {"pairMessages",
     "the most messages of a number to a user at once, 45 at the platform, and one more "
     "each 6 seconds; more are refused with 131056"},
    {"marketingMessages",
     "the most marketing templates to a user in 24 hours; more are accepted, and "
     "fail with 131049"},
    {"templateMessages",
     "the number of messages after which a template is PAUSED, with its webhook; "
     "more are refused with 132015"},
    {"heldTemplates", "true: the `message_status` of templates is `held_for_quality_assessment`"},
    {NULL, NULL},
};

static const struct control_member account_members[] = {
    {"wabaId", "the account; one that is not known is added"},
    {"token", "its access token"},
    {"name", "its name"},
    {"phones", "its numbers: `[{id, displayNumber}]`"},
    {NULL, NULL},
};

static const struct control_member token_members[] = {
    {"token", "the access token of an account"},
    {"state", "valid, expired or revoked"},
    {NULL, NULL},
};

static const struct control_member number_members[] = {
    {"number", "its digits"},
    {"waId", "the `wa_id` in the answers to sends to it"},
    {"failCode", "its automatic status is failed, with this error"},
    {NULL, NULL},
};

static const struct control_member window_members[] = {
    {"phoneNumberId", "the number of the account"},
    {"user", "the digits of the user's phone number, or the BSUID"},
    {"wroteAt", "when the user wrote, in milliseconds since 1970; now unless given, 0 is never"},
    {NULL, NULL},
};

static const struct control_member item_members[] = {
    {"wabaId", "the account"},
    {"items", "a list; an item has an id and is returned byte for byte"},
    {"generate", "`{count, start, prefix}`: so many invented ones"},
    {"replace", "true: deletes the others of the account"},
    {NULL, NULL},
};

static const struct control_member account_query[] = {
    {"wabaId", "those of this account alone"},
    {NULL, NULL},
};

static const struct control_member media_members[] = {
    {"wabaId, phoneNumberId", "the owner: one of them"},
    {"id", "its id, invented unless given"},
    {"mimeType", "its type"},
    {"base64", "its bytes"},
    {"size, seed", "without base64: so many pseudo-random bytes, which are not stored"},
    {"withoutLength", "true: downloaded without Content-Length"},
    {NULL, NULL},
};

static const struct control_member webhook_members[] = {
    {"kind", "what it is; `GET webhooks/kinds` lists them"},
    {"updates", "a list of such objects, instead of the members of one; or"},
    {"body, bodyBase64", "the body itself"},
    {"wabaId, phoneNumberId", "the receiving account or number"},
    {"phone, bsuid, parentBsuid, name, username",
     "the user; a phone alone gets a bsuid that is "
     "derived from it, `bsuid: null` is a user without "
     "one, a bsuid alone one whose phone is withheld"},
    {"newPhone, newBsuid, newParentBsuid", "of a user whose number or id changes"},
    {"id, timestamp, context", "the message, its time, and the message that it answers"},
    {"text, title, groupId, mediaId, flowId, flowResponse", "what it holds"},
    {"templateId, templateName, language, event", "of changes of templates and flows"},
    {"clickId, callbackData, code", "the click on an advertisement, the data of a send, the error"},
    {"message, contact, value", "merged into these parts of the body, by RFC 7396"},
    {"count", "so many, each with an id of its own"},
    {"batch", "what shares a POST: posts (nothing), entries, changes, messages"},
    {"duplicates", "so many further copies of each POST"},
    {"reorder", "reverse or shuffle"},
    {"parallel", "POSTs at the same time"},
    {"retries, retryMs, timeoutMs", "instead of the settings"},
    {"url", "instead of the callback that a client gave number or account, and of webhookUrl"},
    {"appSecret", "instead of the setting"},
    {"signature", "good, wrong, missing, or the header itself"},
    {"build", "true: answers with body and signature, and sends nothing"},
    {"wait", "false: answers at once"},
    {NULL, NULL},
};

static const struct control_member verify_members[] = {
    {"url, verifyToken", "instead of the settings"},
    {"challenge, mode", "a random number and `subscribe` unless given"},
    {NULL, NULL},
};

static const struct control_member chat_query[] = {
    {"phoneNumberId", "the number of the account"},
    {"phone, bsuid", "the user"},
    {"after", "only entries with a larger serial"},
    {NULL, NULL},
};

static const struct control_member chat_members[] = {
    {"phoneNumberId", "the number of the account"},
    {"phone, bsuid", "the user"},
    {"blocked", "true or false"},
    {NULL, NULL},
};

/* clang-format off */
#define ANSWER(function) .answer = function
#define PRINT(function)  .print = function
#define CHANGE(function) .change = function

const struct control_call control_calls[] = {
    {"GET", "health", LOCK_NONE, ANSWER(health),
     .meaning = "Answers `{done:true}`."},
    {"GET", "requests", LOCK_NONE, ANSWER(requests_list), .members = request_query,
     .meaning = "What the platform received, oldest first: `[{id, time, method, path, query, "
                "headers, complete, bodyLength, bodySha256, body}]`; the names of headers are in "
                "lower case, a body that is no text is null."},
    {"GET", "requests/count", LOCK_NONE, ANSWER(requests_count), .members = request_query,
     .meaning = "Their number: `{count}`."},
    {"GET", "requests/*", LOCK_NONE, ANSWER(requests_show), .members = request_query,
     .meaning = "One of them, by its id, or with `last` the newest."},
    {"GET", "requests/*/body", LOCK_NONE, ANSWER(requests_body), .members = request_query,
     .meaning = "The bytes of its body; those of an upload are at `media`."},
    {"DELETE", "requests", LOCK_NONE, CHANGE(recorder_clear),
     .meaning = "Deletes them."},
    {"POST", "faults", LOCK_NONE, ANSWER(faults_add), .members = fault_members,
     .meaning = "Makes requests fail. Answers `{id}`. Without status, code and body the fault "
                "applies to the platform's own answer."},
    {"GET", "faults", LOCK_NONE, PRINT(fault_list),
     .meaning = "The faults that are not used up, with their hits."},
    {"DELETE", "faults", LOCK_NONE, CHANGE(faults_clear),
     .meaning = "Deletes them, and sends delayed answers now."},
    {"GET", "settings", LOCK_READ, PRINT(settings_print),
     .meaning = "All settings."},
    {"POST", "settings", LOCK_WRITE, ANSWER(settings_set), .members = settings_members,
     .meaning = "Changes some settings. Answers all."},
    {"GET", "accounts", LOCK_READ, PRINT(account_list),
     .meaning = "All accounts."},
    {"POST", "accounts", LOCK_WRITE, ANSWER(state_put), .members = account_members,
     .meaning = "Adds or changes an account."},
    {"POST", "tokens", LOCK_WRITE, ANSWER(state_put), .members = token_members,
     .meaning = "Ends an access token, or makes it valid again."},
    {"POST", "numbers", LOCK_WRITE, ANSWER(state_put), .members = number_members,
     .meaning = "Gives a user's number special behaviour."},
    {"POST", "windows", LOCK_WRITE, ANSWER(state_put), .members = window_members,
     .meaning = "Sets when a user last wrote to a number, without a webhook. To a user who did not "
                "write in the last 24 hours only templates are delivered, and such a user cannot be "
                "blocked. A webhook of a message of the user sets it too."},
    {"POST", "templates", LOCK_WRITE, ANSWER(state_put), .members = item_members,
     .meaning = "Adds templates."},
    {"POST", "templates/*", LOCK_WRITE, ANSWER(templates_change),
     .meaning = "Changes members of a template, such as `{\"status\":\"APPROVED\"}`: one that a "
                "client made is PENDING. A change of status, category or "
                "`{\"quality_score\":{\"score\":\"RED\"}}` sends the webhooks template_status, "
                "template_category and template_quality, if there is a URL for them, and waits for "
                "the answer. An approved template whose quality becomes RED is PAUSED, and the third "
                "time DISABLED. `rejection_info` of a template that is REJECTED is in the webhook."},
    {"DELETE", "templates", LOCK_WRITE, ANSWER(templates_clear), .members = account_query,
     .meaning = "Deletes all templates."},
    {"POST", "flows", LOCK_WRITE, ANSWER(state_put), .members = item_members,
     .meaning = "Adds flows."},
    {"DELETE", "flows", LOCK_WRITE, ANSWER(flows_clear), .members = account_query,
     .meaning = "Deletes all flows."},
    {"GET", "flows/*/json", LOCK_READ, ANSWER(flows_json),
     .meaning = "The Flow JSON that a client gave a flow, by its id or name."},
    {"GET", "nodes/*", LOCK_READ, ANSWER(nodes_show),
     .meaning = "What clients changed at an account or number: `{profile, settings, commerce, "
                "registration, automation, encryption, subscription, webhook, answer}`, with the "
                "PIN, the code of request_code and the verify_token."},
    {"POST", "nodes/*", LOCK_WRITE, ANSWER(nodes_answer),
     .meaning = "Makes an account, a number, the app (730000000000001) or an access token (in "
                "debug_token) answer with these members in place of its own, such as "
                "`{\"status\":\"BANNED\"}`, merged by RFC 7396; for `subscribed_apps` and the app's "
                "`subscriptions` the members of these names. `{}` ends this."},
    {"DELETE", "nodes", LOCK_WRITE, CHANGE(edges_clear),
     .meaning = "Deletes that of all, and blocked users, QR codes and upload sessions."},
    {"GET", "media", LOCK_READ, PRINT(media_list),
     .meaning = "All media: owner, type, size, SHA-256, headers of the uploaded part."},
    {"POST", "media", LOCK_WRITE, ANSWER(media_put), .members = media_members,
     .meaning = "Adds media."},
    {"POST", "media/expire", LOCK_WRITE, CHANGE(media_expire_urls),
     .meaning = "Ends all URLs of media that were returned so far."},
    {"GET", "media/*", LOCK_READ, ANSWER(media_one),
     .meaning = "One of the media."},
    {"GET", "media/*/content", LOCK_READ, ANSWER(media_content),
     .meaning = "Its bytes."},
    {"DELETE", "media/*", LOCK_WRITE, ANSWER(media_remove),
     .meaning = "Deletes it."},
    {"POST", "webhooks", LOCK_READ, ANSWER(webhooks_send), .members = webhook_members,
     .meaning = "Sends webhooks now and waits for the answers: `{posts:[{ids, signature, delivered, "
                "bodyLength, body, attempts:[{status, ms, error, answer}]}]}`."},
    {"POST", "webhooks/verify", LOCK_READ, ANSWER(webhooks_verify), .members = verify_members,
     .meaning = "Sends the GET that verifies a URL. Answers as `webhooks`; ids is the URL."},
    {"GET", "webhooks/kinds", LOCK_NONE, PRINT(webhook_kinds_list),
     .meaning = "All kinds, with their field."},
    {"GET", "webhooks", LOCK_NONE, PRINT(webhook_log_list),
     .meaning = "What was sent, automatic statuses too, the last 2000."},
    {"DELETE", "webhooks", LOCK_NONE, CHANGE(webhook_log_clear),
     .meaning = "Deletes this list."},
    {"GET", "phone", LOCK_NONE, ANSWER(phone_file),
     .meaning = "The phone in the browser; its query may have `phone`, or `username`, and `name` and "
                "`phoneNumberId`."},
    {"GET", "phone/*", LOCK_NONE, ANSWER(phone_file),
     .meaning = "The files of that page."},
    {"GET", "chat", LOCK_READ, ANSWER(chat_show), .members = chat_query,
     .meaning = "What that page shows: `{generation, blocked, entries: [{serial, time, kind, id, "
                "message, template}]}`; kind is sent, received, status or read. Only the last 2000 "
                "of all conversations are kept. For 10 seconds after this call the automatic "
                "statuses of the conversation end with sent, because the page sends delivered and "
                "read."},
    {"POST", "chat", LOCK_READ, ANSWER(chat_change), .members = chat_members,
     .meaning = "Lets the user block the number: messages to the user do not arrive."},
    {"GET", "state", LOCK_READ, PRINT(fixtures_print),
     .meaning = "The whole state as one object, which can be saved and loaded: settings, accounts, "
                "tokens, numbers, when users wrote, media with their bytes, templates, flows, and "
                "what clients have kept at objects. Upload sessions and the record of requests are not in it."},
    {"POST", "state", LOCK_WRITE, ANSWER(state_replace),
     .meaning = "Replaces the whole state by such an object, of at most 32 MiB. If it is refused, "
                "nothing is changed."},
    {"POST", "reset", LOCK_NONE, ANSWER(reset),
     .meaning = "Restores the start: state, settings, requests, faults."},
    {.method = NULL},
};
/* clang-format on */
