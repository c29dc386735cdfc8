#include "graph/setup.h"

#include <inttypes.h>

#include "base/clock.h"
#include "graph/setup_number.h"

enum { CALL_MS = 5000, TOTAL_MS = 10000, DAY_S = 24 * 60 * 60 };

/* --- calls --- */

/* The asker of the parts: limits the time. */
static void ask_limited(void *context, const struct graph_call *call, struct graph_answer *answer) {
    struct setup *setup = context;
    struct graph_call limited = *call;
    int64_t left = setup->ends - clock_monotonic();
    if (setup->is_silent || left <= 0) {
        *answer = (struct graph_answer){
            .failure = setup->is_silent ? "an earlier call had no answer" : "the time was over"};
        return;
    }
    limited.limit_ms = left < CALL_MS ? left : CALL_MS;
    setup->asker->ask(setup->asker->context, &limited, answer);
    setup->is_silent = !answer->status;
}

/* Makes a GET. Returns true and the answer's JSON, or false; then `*answer` is what came instead.
 */
static bool get(struct setup *setup, const char *token, const char *path, struct json *json,
                struct graph_answer *answer) {
    struct graph_call call = {.method = "GET", .path = path, .token = token};
    struct json_error error;
    ask_limited(setup, &call, answer);
    return answer->status == 200 && json_read(setup->arena, answer->body, json, &error) == 0;
}

/* The platform's error code; 0: none. */
static int64_t code_of(struct setup *setup, const struct graph_answer *answer) {
    struct json body;
    struct json_error error;
    int64_t code = 0;
    if (!answer->status || json_read(setup->arena, answer->body, &body, &error) != 0 ||
        !json_integer(json_find(body, "error.code"), &code))
        return 0;
    return code;
}

/* --- the token --- */

static const char token_todo[] =
    "make a token of a system user that does not end, and give it to `switchboard account token`";

static void add_end(struct setup *setup, int64_t ends) {
    char time[CLOCK_ISO8601_SIZE];
    int64_t left = ends - setup->subject->now / 1000;
    clock_format(ends * 1000, time);
    if (!ends)
        setup_add(setup, SETUP_OK, "token expiry", NULL, "it does not end");
    else
        setup_add(setup, left > 0 ? SETUP_WARNING : SETUP_FAULT, "token expiry", token_todo,
                  left > 0 ? "it ends at %s, in %" PRId64 " days"
                           : "it ended at %s, %" PRId64 " days ago",
                  time, (left > 0 ? left : -left) / DAY_S);
}

/* Whether the token has the scope for the account: `granular_scopes` names the accounts, none for
 * all (Meta, "Debug-Token"). */
static bool is_granted(struct setup *setup, struct json data, const char *scope) {
    struct json list = json_get(data, "granular_scopes");
    for (struct json one = json_first(list); json_is(one); one = json_next(one)) {
        struct json ids = json_get(one, "target_ids");
        bool is_found = !json_count(ids);
        if (!json_equals(json_get(one, "scope"), scope))
            continue;
        for (struct json id = json_first(ids); json_is(id) && !is_found; id = json_next(id))
            is_found = json_equals(id, setup->subject->waba_id);
        return is_found;
    }
    return true;
}

static bool has_item(struct json list, const char *text) {
    for (struct json item = json_first(list); json_is(item); item = json_next(item))
        if (json_equals(item, text))
            return true;
    return false;
}

static void check_scopes(struct setup *setup, struct json data) {
    static const char *const needed[] = {"whatsapp_business_messaging",
                                         "whatsapp_business_management"};
    static const char todo[] = "make a token with both scopes of WhatsApp, after the system user "
                               "got the app and the WhatsApp account";
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!has_item(json_get(data, "scopes"), needed[i]))
            setup_add(setup, SETUP_FAULT, "token scopes", todo, "%s is missing", needed[i]);
        else if (!is_granted(setup, data, needed[i]))
            setup_add(setup, SETUP_FAULT, "token scopes",
                      "assign the WhatsApp account to the system user with full control, then make "
                      "a new token",
                      "%s is not granted for the account %s", needed[i], setup->subject->waba_id);
        else
            setup_add(setup, SETUP_OK, "token scopes", NULL, "%s", needed[i]);
}

static void check_kind(struct setup *setup, struct json data) {
    static const struct setup_word kinds[] = {
        {"SYSTEM_USER", SETUP_OK, NULL},
        {"USER", SETUP_WARNING,
         "a person's token ends with the login or the employment: take that of a system user"},
        {NULL, SETUP_WARNING, NULL}};
    setup_add_word(setup, "platform token", "its type",
                   json_text(json_get(data, "type"), setup->arena), kinds);
}

/* Returns false when nothing else can be asked with the token. */
static bool check_token(struct setup *setup) {
    struct graph_answer answer;
    struct json json, data;
    int64_t ends = 0;
    const char *token = setup->subject->token;
    if (!get(setup, token,
             arena_printf(setup->arena, "debug_token?input_token=%s",
                          graph_escape(setup->arena, slice_of(token))),
             &json, &answer)) {
        bool is_refused = code_of(setup, &answer) == 190;
        setup_add(setup, SETUP_FAULT, is_refused ? "platform token" : "platform",
                  is_refused
                      ? token_todo
                      : "look at graph_base_url, the network and the platform's status page, "
                        "then repeat",
                  "%s", setup_refusal(setup, &answer));
        return false;
    }
    data = json_get(json, "data");
    if (json_type(json_get(data, "is_valid")) != JSON_TRUE) {
        const char *said = json_text(json_find(data, "error.message"), setup->arena);
        setup_add(setup, SETUP_FAULT, "platform token", token_todo, "it is not valid: %s",
                  said && !setup_holds(said, token) ? said : "no reason");
        return false;
    }
    check_kind(setup, data);
    json_integer(json_get(data, "expires_at"), &ends);
    add_end(setup, ends);
    check_scopes(setup, data);
    setup->app_id = json_text(json_get(data, "app_id"), setup->arena);
    return true;
}

/* --- the app and its webhook --- */

static void check_fields(struct setup *setup, struct json list) {
    static const char *const useful[] = {"message_template_status_update",
                                         "message_template_quality_update", "account_update",
                                         "phone_number_quality_update", "phone_number_name_update"};
    struct buffer lacking = buffer_in(setup->arena);
    struct buffer names = buffer_in(setup->arena);
    for (struct json f = json_first(list); json_is(f); f = json_next(f)) {
        struct json name = json_type(f) == JSON_OBJECT ? json_get(f, "name") : f;
        buffer_printf(&names, " %s", json_text(name, setup->arena));
    }
    buffer_add(&names, "", 0);
    for (size_t i = 0; i < sizeof useful / sizeof *useful; i++)
        if (!slice_has_word(buffer_slice(&names), ' ', slice_of(useful[i])))
            buffer_printf(&lacking, " %s", useful[i]);
    if (!slice_has_word(buffer_slice(&names), ' ', SLICE("messages")))
        setup_add(setup, SETUP_FAULT, "webhook fields",
                  "subscribe the app's webhook to the field messages",
                  "messages is missing: neither messages nor statuses arrive");
    else if (lacking.n)
        setup_add(setup, SETUP_WARNING, "webhook fields",
                  "subscribe to them too, so that changes of templates and numbers arrive",
                  "not subscribed:%s", lacking.p);
    else
        setup_add(setup, SETUP_OK, "webhook fields", NULL, "%s", names.n ? names.p + 1 : "");
}

static void check_callback(struct setup *setup, struct json webhook) {
    static const char todo[] = "enter the gateway's URL and verify_token as the app's webhook";
    const char *own = setup->subject->callback_url;
    const char *url = json_text(json_get(webhook, "callback_url"), setup->arena);
    if (!url || json_type(json_get(webhook, "active")) == JSON_FALSE)
        setup_add(setup, SETUP_FAULT, "webhook URL", todo, "the app's webhook is not active");
    else if (!own)
        setup_add(setup, SETUP_WARNING, "webhook URL",
                  "set public_url in the configuration, so that they are compared",
                  "webhooks go to %s", url);
    else if (strcmp(url, own) != 0)
        setup_add(setup, SETUP_FAULT, "webhook URL", todo, "webhooks go to %s instead of %s", url,
                  own);
    else
        setup_add(setup, SETUP_OK, "webhook URL", NULL, "%s", url);
}

static bool is_wrong_secret(int64_t code) {
    return code == 190 || code == 101;
}

static void check_subscriptions(struct setup *setup, struct json list) {
    for (struct json one = json_first(list); json_is(one); one = json_next(one))
        if (json_equals(json_get(one, "object"), "whatsapp_business_account")) {
            check_callback(setup, one);
            check_fields(setup, json_get(one, "fields"));
            return;
        }
    setup_add(setup, SETUP_FAULT, "webhook URL",
              "enter the gateway's URL and verify_token as the app's webhook",
              "the app has no webhook for WhatsApp");
}

static void check_app(struct setup *setup) {
    const char *secret = setup->subject->app_secret, *id = setup->app_id;
    struct graph_answer answer;
    struct json json;
    if (!*secret) {
        setup_add(setup, SETUP_FAULT, "app secret",
                  "set app_secret: the app's page App settings > Basic shows it",
                  "app_secret is unset: every webhook is refused");
        return;
    }
    if (!id)
        return; /* debug_token did not name it */
    if (get(setup, arena_printf(setup->arena, "%s|%s", id, secret),
            arena_printf(setup->arena, "%s/subscriptions",
                         graph_escape(setup->arena, slice_of(id))),
            &json, &answer)) {
        setup_add(setup, SETUP_OK, "app secret", NULL, "app_secret is that of the app %s", id);
        check_subscriptions(setup, json_get(json, "data"));
    } else if (is_wrong_secret(code_of(setup, &answer))) {
        setup_add(setup, SETUP_FAULT, "app secret",
                  "copy it from the app's page App settings > Basic",
                  "app_secret is not that of the token's app %s: every webhook is refused", id);
    } else {
        setup_add(setup, SETUP_WARNING, "webhook URL", "repeat the check later", "%s",
                  setup_refusal(setup, &answer));
    }
}

/* --- the business account --- */

static bool check_account(struct setup *setup) {
    static const struct setup_word reviews[] = {
        {"APPROVED", SETUP_OK, NULL},
        {"PENDING", SETUP_WARNING, "wait for the platform's review"},
        {"REJECTED", SETUP_FAULT, "open the review's page in Business settings and appeal"},
        {NULL, SETUP_WARNING, NULL}};
    static const struct setup_word verifications[] = {
        {"verified", SETUP_OK, NULL},
        {"not_verified", SETUP_WARNING,
         "verify the business, else 250 people a day can be written to first"},
        {NULL, SETUP_WARNING, NULL}};
    const char *waba = graph_escape(setup->arena, slice_of(setup->subject->waba_id));
    struct graph_answer answer;
    struct json json;
    if (!get(setup, setup->subject->token,
             arena_printf(setup->arena,
                          "%s?fields=id,name,account_review_status,business_verification_status,"
                          "health_status",
                          waba),
             &json, &answer)) {
        setup_add(setup, answer.status ? SETUP_FAULT : SETUP_WARNING, "business account",
                  answer.status ? "compare the id with that in WhatsApp Manager, and assign the "
                                  "account to the system user"
                                : "repeat the check later",
                  "%s: %s", setup->subject->waba_id, setup_refusal(setup, &answer));
        return false;
    }
    const char *name = json_text(json_get(json, "name"), setup->arena);
    setup_add(setup, SETUP_OK, "business account", NULL, "%s, %s", setup->subject->waba_id,
              name ? name : "without a name");
    setup_add_word(setup, "business account", "account_review_status",
                   json_text(json_get(json, "account_review_status"), setup->arena), reviews);
    setup_add_word(setup, "business account", "business_verification_status",
                   json_text(json_get(json, "business_verification_status"), setup->arena),
                   verifications);
    setup_add_health(setup, "business account", json_get(json, "health_status"));
    return true;
}

/* The item of the token's app; absent: it is not subscribed. `*others` counts other apps. */
static struct json find_app(struct setup *setup, struct json list, size_t *others) {
    *others = 0;
    for (struct json one = json_first(list); json_is(one); one = json_next(one)) {
        struct json id = json_find(one, "whatsapp_business_api_data.id");
        if (setup->app_id && json_equals(id, setup->app_id))
            return json_alone(one);
        ++*others;
    }
    return (struct json){0};
}

static void check_subscribed(struct setup *setup) {
    const char *waba = graph_escape(setup->arena, slice_of(setup->subject->waba_id));
    const char *todo =
        arena_printf(setup->arena, "POST /%s/subscribed_apps with the token of the account", waba);
    struct graph_answer answer;
    struct json json;
    size_t others;
    if (!get(setup, setup->subject->token, arena_printf(setup->arena, "%s/subscribed_apps", waba),
             &json, &answer)) {
        setup_add(setup, SETUP_WARNING, "subscribed app", "repeat the check later", "%s",
                  setup_refusal(setup, &answer));
        return;
    }
    struct json own = find_app(setup, json_get(json, "data"), &others);
    if (!json_is(own))
        setup_add(setup, SETUP_FAULT, "subscribed app", todo,
                  others ? "only other apps are subscribed to the account: no webhook of it arrives"
                         : "no app is subscribed to the account: no webhook of it arrives");
    else
        setup_add(setup, SETUP_OK, "subscribed app", NULL, "%s", setup->app_id);
    setup_add_override(setup, "subscribed app",
                       json_text(json_get(own, "override_callback_uri"), setup->arena));
}

void setup_check(struct arena *arena, const struct setup_subject *subject,
                 const struct graph_asker *asker, struct setup_row **rows, size_t *count) {
    struct setup setup = {.arena = arena,
                          .subject = subject,
                          .asker = asker,
                          .ends = clock_monotonic() + TOTAL_MS,
                          .rows = buffer_in(arena)};
    struct graph_asker limited = {ask_limited, &setup};
    if (check_token(&setup)) {
        check_app(&setup);
        if (check_account(&setup)) {
            check_subscribed(&setup);
            setup_check_numbers(&setup, &limited);
        }
    }
    setup_check_webhooks(&setup);
    *rows = (struct setup_row *)(void *)setup.rows.p;
    *count = setup.rows.n / sizeof **rows;
}
