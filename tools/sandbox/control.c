#include "control.h"

#include "accounts.h"
#include "builtin.h"
#include "faults.h"
#include "flows.h"
#include "media.h"
#include "numbers.h"
#include "recorder.h"
#include "state.h"
#include "templates.h"
#include "webhooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(struct exchange *exchange, int status, char *problem) {
    struct bytes *out = &exchange->reply.body;

    bytes_release(out);
    exchange->reply.status = status;
    bytes_text(out, "{\"error\":");
    json_quote(out, problem, strlen(problem));
    bytes_text(out, "}\n");
    free(problem);
}

static void answer_done(struct exchange *exchange, char *problem) {
    if (problem != NULL) {
        refuse(exchange, 400, problem);
    } else {
        bytes_text(&exchange->reply.body, "{\"done\":true}");
    }
}

static void answer_found(struct exchange *exchange, bool found) {
    if (!found) {
        refuse(exchange, 404, memory_text("there is none"));
    }
}

static void health(struct exchange *exchange) {
    answer_done(exchange, NULL);
}

static struct record_filter read_filter(const struct exchange *exchange) {
    const char *last = exchange_parameter(exchange, "last");

    return (struct record_filter){.path = exchange_parameter(exchange, "path"),
                                  .method = exchange_parameter(exchange, "method"),
                                  .last = last == NULL ? 0 : strtoull(last, NULL, 10)};
}

/* The id in the path; `last` is 0, which selects the newest. */
static uint64_t read_id(const struct exchange *exchange) {
    return strtoull(exchange_segment(exchange, 2), NULL, 10);
}

static void requests_list(struct exchange *exchange) {
    struct record_filter filter = read_filter(exchange);

    recorder_list(&exchange->reply.body, &filter);
}

static void requests_count(struct exchange *exchange) {
    struct record_filter filter = read_filter(exchange);

    bytes_format(&exchange->reply.body, "{\"count\":%llu}",
                 (unsigned long long)recorder_count(&filter));
}

static void requests_show(struct exchange *exchange) {
    struct record_filter filter = read_filter(exchange);

    answer_found(exchange, recorder_show(&exchange->reply.body, read_id(exchange), &filter));
}

static void requests_body(struct exchange *exchange) {
    struct record_filter filter = read_filter(exchange);

    exchange->reply.type = "application/octet-stream";
    answer_found(exchange, recorder_body(&exchange->reply.body, read_id(exchange), &filter));
}

static void requests_clear(struct exchange *exchange) {
    recorder_clear();
    answer_done(exchange, NULL);
}

static void faults_add(struct exchange *exchange) {
    uint64_t id = 0;
    char *problem = fault_add(exchange->json, &id);

    if (problem != NULL) {
        refuse(exchange, 400, problem);
    } else {
        bytes_format(&exchange->reply.body, "{\"id\":%llu}", (unsigned long long)id);
    }
}

static void faults_list(struct exchange *exchange) {
    fault_list(&exchange->reply.body);
}

static void faults_clear(struct exchange *exchange) {
    fault_clear();
    answer_done(exchange, NULL);
}

static void settings_show(struct exchange *exchange) {
    settings_print(&exchange->reply.body);
}

static void settings_set(struct exchange *exchange) {
    char *problem = settings_change(exchange->json);

    if (problem != NULL) {
        refuse(exchange, 400, problem);
    } else {
        settings_print(&exchange->reply.body);
    }
}

static void accounts_list(struct exchange *exchange) {
    account_list(&exchange->reply.body);
}

static void accounts_put(struct exchange *exchange) {
    answer_done(exchange, account_put(exchange->json));
}

static void tokens_put(struct exchange *exchange) {
    answer_done(exchange, token_put(exchange->json));
}

static void numbers_put(struct exchange *exchange) {
    answer_done(exchange, number_put(exchange->json));
}

static struct slice body_slice(const struct exchange *exchange) {
    return (struct slice){exchange->body.data, exchange->body.length};
}

static void templates_put(struct exchange *exchange) {
    answer_done(exchange, collection_put(&templates, body_slice(exchange), template_make));
}

static void templates_clear(struct exchange *exchange) {
    collection_clear(&templates, exchange_parameter(exchange, "wabaId"));
    answer_done(exchange, NULL);
}

static void flows_put(struct exchange *exchange) {
    answer_done(exchange, collection_put(&flows, body_slice(exchange), flow_make));
}

static void flows_clear(struct exchange *exchange) {
    collection_clear(&flows, exchange_parameter(exchange, "wabaId"));
    answer_done(exchange, NULL);
}

static void media_put(struct exchange *exchange) {
    char *id = NULL;
    char *problem = media_make(exchange->json, &id);

    if (problem != NULL) {
        refuse(exchange, 400, problem);
    } else {
        media_print(&exchange->reply.body, id);
    }
    free(id);
}

static void media_all(struct exchange *exchange) {
    media_list(&exchange->reply.body);
}

static void media_one(struct exchange *exchange) {
    answer_found(exchange, media_print(&exchange->reply.body, exchange_segment(exchange, 2)));
}

static void media_content(struct exchange *exchange) {
    exchange->reply.type = "application/octet-stream";
    answer_found(exchange, media_source(&exchange->reply.source, exchange_segment(exchange, 2)));
}

static void media_remove(struct exchange *exchange) {
    media_delete(exchange_segment(exchange, 2));
    answer_done(exchange, NULL);
}

static void media_expire(struct exchange *exchange) {
    media_expire_urls();
    answer_done(exchange, NULL);
}

static void reset(struct exchange *exchange) {
    control_clear();
    if (builtin_load() == 0) {
        answer_done(exchange, NULL);
    } else {
        refuse(exchange, 500, memory_text("the fixtures cannot be loaded any more"));
    }
}

static void webhooks_send(struct exchange *exchange) {
    char *problem;

    if (!webhook_call(exchange, &problem)) {
        refuse(exchange, 400, problem);
    }
}

static void webhooks_verify(struct exchange *exchange) {
    char *problem;

    if (!webhook_verify(exchange, &problem)) {
        refuse(exchange, 400, problem);
    }
}

static void webhooks_list(struct exchange *exchange) {
    webhook_log_list(&exchange->reply.body);
}

static void webhooks_kinds(struct exchange *exchange) {
    webhook_kinds_list(&exchange->reply.body);
}

static void webhooks_clear(struct exchange *exchange) {
    webhook_log_clear();
    answer_done(exchange, NULL);
}

enum lock { LOCK_NONE, LOCK_READ, LOCK_WRITE };

/* Every call: method, path below /_sandbox/ (`*` is any segment), lock, function, description.
 * --help prints this table. */
static const struct call {
    const char *method;
    const char *path;
    enum lock lock;
    void (*answer)(struct exchange *exchange);
    const char *help;
} calls[] = {
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
    {"DELETE", "faults", LOCK_NONE, faults_clear, "delete all faults"},
    {"GET", "settings", LOCK_READ, settings_show, "all settings"},
    {"POST", "settings", LOCK_WRITE, settings_set,
     "change some: latencyMs, mediaUrlSeconds, mediaSizeText, templatePageCap, "
     "templatePageCapSilent, flowPageCap, flowPageCapSilent, pagingToken, appSecret, webhookUrl, "
     "verifyToken, webhookVersion, webhookRetries, webhookRetryMs, webhookTimeoutMs, "
     "automaticStatuses, statusDelayMs. If a page cap is set, a larger limit is error 1, or with "
     "the ...Silent setting it is lowered"},
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
    {"DELETE", "templates", LOCK_WRITE, templates_clear, "all, or those of ?wabaId="},
    {"POST", "flows", LOCK_WRITE, flows_put, "as templates"},
    {"DELETE", "flows", LOCK_WRITE, flows_clear, "as templates"},
    {"GET", "media", LOCK_READ, media_all, "all media: owner, type, size, sha256, part headers"},
    {"POST", "media", LOCK_WRITE, media_put,
     "add media of pseudo-random bytes, which are not stored: {wabaId or phoneNumberId, id, "
     "mimeType, size, seed, withoutLength (download chunked)}"},
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
     "duplicates, reorder (reverse, shuffle), parallel, retries, retryMs, timeoutMs, url, "
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
};

enum { CALLS = sizeof calls / sizeof *calls };

/* Prints text in lines of up to 76 characters, indented. */
static void print_wrapped(const char *text) {
    while (*text != '\0') {
        size_t length = strlen(text);

        if (length > 76) {
            for (length = 76; length > 0 && text[length] != ' '; length--) {
            }
            length = length == 0 ? strlen(text) : length;
        }
        printf("      %.*s\n", (int)length, text);
        text += length + strspn(text + length, " ");
    }
}

void control_help(void) {
    printf("\nCalls below /_sandbox/ (JSON):\n");
    for (size_t i = 0; i < CALLS; i++) {
        printf("  %-6s %s\n", calls[i].method, calls[i].path);
        print_wrapped(calls[i].help);
    }
}

static bool path_matches(const struct exchange *exchange, const char *pattern) {
    size_t i = 1;

    for (; *pattern != '\0'; i++) {
        size_t length = strcspn(pattern, "/");
        const char *segment = exchange_segment(exchange, i);

        if (*segment == '\0' || (*pattern != '*' && (strlen(segment) != length ||
                                                     strncmp(segment, pattern, length) != 0))) {
            return false;
        }
        pattern += length + (pattern[length] == '/');
    }
    return i == exchange->segment_count;
}

static void call_answer(struct exchange *exchange, const struct call *call) {
    if (exchange->body.length > 0) {
        exchange->json = json_parse(exchange->body.data, exchange->body.length);
    }
    if (exchange->body_length > BODY_MAX) {
        refuse(exchange, 413, memory_text("the body is too large"));
        return;
    }
    if (strcmp(call->method, "POST") == 0 && call->lock != LOCK_NONE && exchange->json == NULL &&
        exchange->body.length > 0) {
        refuse(exchange, 400, memory_text("the body is not valid JSON"));
        return;
    }
    if (call->lock == LOCK_READ) {
        state_read();
    } else if (call->lock == LOCK_WRITE) {
        state_write();
    }
    call->answer(exchange);
    if (call->lock != LOCK_NONE) {
        state_done();
    }
}

void control_answer(struct exchange *exchange) {
    bool known = false;

    exchange->reply.status = 200;
    exchange->reply.type = "application/json";
    for (size_t i = 0; i < CALLS; i++) {
        if (!path_matches(exchange, calls[i].path)) {
            continue;
        }
        if (strcmp(calls[i].method, exchange->method) == 0) {
            call_answer(exchange, &calls[i]);
            return;
        }
        known = true;
    }
    refuse(exchange, known ? 405 : 404, memory_text("no such call; see graph-sandbox --help"));
}

static char *load_settings(struct slice body) {
    cJSON *json = cJSON_ParseWithLength(body.text, body.length);
    char *problem = settings_change(json);

    cJSON_Delete(json);
    return problem;
}

static char *load_account(struct slice body) {
    cJSON *json = cJSON_ParseWithLength(body.text, body.length);
    char *problem = account_put(json);

    cJSON_Delete(json);
    return problem;
}

static char *load_token(struct slice body) {
    cJSON *json = cJSON_ParseWithLength(body.text, body.length);
    char *problem = token_put(json);

    cJSON_Delete(json);
    return problem;
}

static char *load_number(struct slice body) {
    cJSON *json = cJSON_ParseWithLength(body.text, body.length);
    char *problem = number_put(json);

    cJSON_Delete(json);
    return problem;
}

static char *load_media(struct slice body) {
    cJSON *json = cJSON_ParseWithLength(body.text, body.length);
    char *id = NULL;
    char *problem = media_make(json, &id);

    cJSON_Delete(json);
    free(id);
    return problem;
}

static char *load_templates(struct slice body) {
    return collection_put(&templates, body, template_make);
}

static char *load_flows(struct slice body) {
    return collection_put(&flows, body, flow_make);
}

char *control_load(struct slice text) {
    static const struct {
        const char *name;
        char *(*load)(struct slice body);
    } members[] = {
        {"settings", load_settings}, {"accounts", load_account}, {"tokens", load_token},
        {"numbers", load_number},    {"media", load_media},      {"templates", load_templates},
        {"flows", load_flows},
    };
    char *problem = NULL;
    struct slice list;
    struct slice body;

    if (!json_valid(text.text, text.length)) {
        return memory_text("not valid JSON");
    }
    state_write();
    for (size_t i = 0; problem == NULL && i < sizeof members / sizeof *members; i++) {
        size_t cursor = 0;

        if (json_member(text, members[i].name, &list)) {
            while (problem == NULL && json_element(list, &cursor, &body)) {
                problem = members[i].load(body);
            }
        }
    }
    state_done();
    return problem;
}

void control_clear(void) {
    fault_clear();
    webhook_log_clear();
    recorder_clear();
    state_write();
    account_clear();
    collection_clear(&templates, NULL);
    collection_clear(&flows, NULL);
    media_clear();
    number_clear();
    settings_reset();
    state_done();
}
