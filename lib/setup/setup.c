#include "setup/setup.h"

#include <inttypes.h>

#include "base/clock.h"

enum { CALL_MS = 5000, TOTAL_MS = 10000, DAY_S = 24 * 60 * 60 };

/* --- calls --- */

/* The asker of the parts: limits the time. */
static void ask_limited(void *context, const struct graph_call *call, struct graph_answer *answer) {
    struct setup *setup = context;
    struct graph_call limited = *call;
    int64_t left = setup->ends - clock_monotonic();
    if (setup->is_silent || left <= 0) {
        *answer = (struct graph_answer){.failure = setup->is_silent ? setup_after_silence
                                                                    : setup_after_end};
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

static void add_end(struct setup *setup, int64_t ends) {
    char time[CLOCK_ISO8601_SIZE];
    int64_t left = ends - setup->subject->now / 1000;
    const char *days = arena_printf(setup->arena, "%" PRId64, (left > 0 ? left : -left) / DAY_S);
    clock_format(ends * 1000, time);
    if (!ends)
        setup_add_here(setup, SETUP_TOKEN_EXPIRY, SETUP_OK, SETUP_ENDLESS, SETUP_NOTHING,
                       (struct setup_values){0});
    else
        setup_add_here(setup, SETUP_TOKEN_EXPIRY, left > 0 ? SETUP_WARNING : SETUP_FAULT,
                       left > 0 ? SETUP_ENDS : SETUP_ENDED, SETUP_DO_MAKE_TOKEN,
                       SETUP_WITH({"time", time}, {"days", days}));
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
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const bool is_listed = has_item(json_get(data, "scopes"), needed[i]);
        const bool is_usable = is_listed && is_granted(setup, data, needed[i]);
        setup_add_here(setup, SETUP_TOKEN_SCOPES, is_usable ? SETUP_OK : SETUP_FAULT,
                       is_usable   ? SETUP_SCOPE
                       : is_listed ? SETUP_SCOPE_OTHER
                                   : SETUP_SCOPE_MISSING,
                       is_usable   ? SETUP_NOTHING
                       : is_listed ? SETUP_DO_ASSIGN
                                   : SETUP_DO_SCOPES,
                       SETUP_WITH({"scope", needed[i]}, {"waba", setup->subject->waba_id}));
    }
}

static void check_kind(struct setup *setup, struct json data) {
    static const struct setup_word kinds[] = {
        {"SYSTEM_USER", SETUP_OK, SETUP_NOTHING}, {"USER", SETUP_WARNING, SETUP_DO_OWN_TOKEN}, {0}};
    setup_add_word(setup, (struct setup_place){SETUP_TOKEN, NULL}, "type",
                   json_text(json_get(data, "type"), setup->arena), kinds);
}

static void add_invalid(struct setup *setup, struct json data) {
    const char *said = json_text(json_find(data, "error.message"), setup->arena);
    if (said && setup_holds(said, setup->subject->token))
        said = NULL;
    setup_add_here(setup, SETUP_TOKEN, SETUP_FAULT, said ? SETUP_INVALID_REASON : SETUP_INVALID,
                   SETUP_DO_MAKE_TOKEN, SETUP_WITH({"reason", said ? said : ""}));
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
        setup_add_refusal(setup, is_refused ? SETUP_TOKEN : SETUP_PLATFORM, SETUP_FAULT,
                          is_refused ? SETUP_DO_MAKE_TOKEN : SETUP_DO_REACH, &answer);
        return false;
    }
    data = json_get(json, "data");
    if (json_type(json_get(data, "is_valid")) != JSON_TRUE) {
        add_invalid(setup, data);
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
        setup_add_here(setup, SETUP_WEBHOOK_FIELDS, SETUP_FAULT, SETUP_MESSAGES_MISSING,
                       SETUP_DO_MESSAGES, (struct setup_values){0});
    else if (lacking.n)
        setup_add_here(setup, SETUP_WEBHOOK_FIELDS, SETUP_WARNING, SETUP_FIELDS_MISSING,
                       SETUP_DO_FIELDS, SETUP_WITH({"fields", lacking.p + 1}));
    else
        setup_add_here(setup, SETUP_WEBHOOK_FIELDS, SETUP_OK, SETUP_FIELDS, SETUP_NOTHING,
                       SETUP_WITH({"fields", names.p + 1}));
}

static void add_callback(struct setup *setup, enum setup_level level, enum setup_text detail,
                         enum setup_text todo, const char *url) {
    const char *own = setup->subject->callback_url;
    setup_add_here(setup, SETUP_WEBHOOK_URL, level, detail, todo,
                   SETUP_WITH({"url", url ? url : ""}, {"own", own ? own : ""}));
}

static void check_callback(struct setup *setup, struct json webhook) {
    const char *own = setup->subject->callback_url;
    const char *url = json_text(json_get(webhook, "callback_url"), setup->arena);
    if (!url || json_type(json_get(webhook, "active")) == JSON_FALSE)
        add_callback(setup, SETUP_FAULT, SETUP_WEBHOOK_INACTIVE, SETUP_DO_ENTER_WEBHOOK, url);
    else if (!own)
        add_callback(setup, SETUP_WARNING, SETUP_WEBHOOK_UNCOMPARED, SETUP_DO_PUBLIC_URL, url);
    else if (strcmp(url, own) != 0)
        add_callback(setup, SETUP_FAULT, SETUP_WEBHOOK_ELSEWHERE, SETUP_DO_ENTER_WEBHOOK, url);
    else
        add_callback(setup, SETUP_OK, SETUP_URL, SETUP_NOTHING, url);
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
    add_callback(setup, SETUP_FAULT, SETUP_WEBHOOK_NONE, SETUP_DO_ENTER_WEBHOOK, NULL);
}

static void check_app(struct setup *setup) {
    const char *secret = setup->subject->app_secret, *id = setup->app_id;
    struct graph_answer answer;
    struct json json;
    if (!*secret) {
        setup_add_here(setup, SETUP_APP_SECRET, SETUP_FAULT, SETUP_SECRET_UNSET,
                       SETUP_DO_SET_SECRET, (struct setup_values){0});
        return;
    }
    if (!id)
        return; /* debug_token did not name it */
    if (get(setup, arena_printf(setup->arena, "%s|%s", id, secret),
            arena_printf(setup->arena, "%s/subscriptions",
                         graph_escape(setup->arena, slice_of(id))),
            &json, &answer)) {
        setup_add_here(setup, SETUP_APP_SECRET, SETUP_OK, SETUP_SECRET_RIGHT, SETUP_NOTHING,
                       SETUP_WITH({"app", id}));
        check_subscriptions(setup, json_get(json, "data"));
    } else if (is_wrong_secret(code_of(setup, &answer))) {
        setup_add_here(setup, SETUP_APP_SECRET, SETUP_FAULT, SETUP_SECRET_WRONG,
                       SETUP_DO_COPY_SECRET, SETUP_WITH({"app", id}));
    } else {
        setup_add_refusal(setup, SETUP_WEBHOOK_URL, SETUP_WARNING, SETUP_DO_REPEAT, &answer);
    }
}

/* --- the business account --- */

/* clang-format off */
static const struct setup_word reviews[] = {
    {"APPROVED", SETUP_OK, SETUP_NOTHING},
    {"PENDING", SETUP_WARNING, SETUP_DO_AWAIT_REVIEW},
    {"REJECTED", SETUP_FAULT, SETUP_DO_APPEAL_REVIEW},
    {0}};

static const struct setup_word verifications[] = {
    {"verified", SETUP_OK, SETUP_NOTHING},
    {"not_verified", SETUP_WARNING, SETUP_DO_VERIFY_BUSINESS},
    {"pending", SETUP_WARNING, SETUP_DO_AWAIT_VERIFICATION},
    {"pending_need_more_info", SETUP_WARNING, SETUP_DO_SEND_PROOF},
    {"pending_submission", SETUP_WARNING, SETUP_DO_SEND_PROOF},
    {"rejected", SETUP_WARNING, SETUP_DO_VERIFY_AGAIN},
    {"failed", SETUP_WARNING, SETUP_DO_VERIFY_AGAIN},
    {"expired", SETUP_WARNING, SETUP_DO_VERIFY_AGAIN},
    {"revoked", SETUP_WARNING, SETUP_DO_VERIFY_AGAIN},
    {0}};
/* clang-format on */

static bool check_account(struct setup *setup) {
    static const struct setup_place place = {SETUP_ACCOUNT, NULL};
    const char *waba = setup->subject->waba_id, *name;
    struct graph_answer answer;
    struct json json;
    if (!get(setup, setup->subject->token,
             arena_printf(setup->arena,
                          "%s?fields=id,name,account_review_status,business_verification_status,"
                          "health_status",
                          graph_escape(setup->arena, slice_of(waba))),
             &json, &answer)) {
        setup_add_refusal(setup, SETUP_ACCOUNT, answer.status ? SETUP_FAULT : SETUP_WARNING,
                          answer.status ? SETUP_DO_COMPARE_ID : SETUP_DO_REPEAT, &answer);
        return false;
    }
    name = json_text(json_get(json, "name"), setup->arena);
    setup_add(setup, place, SETUP_OK, SETUP_NAME, SETUP_NOTHING,
              SETUP_WITH({"waba", waba}, {"name", name ? name : "?"}));
    setup_add_word(setup, place, "account_review_status",
                   json_text(json_get(json, "account_review_status"), setup->arena), reviews);
    setup_add_word(setup, place, "business_verification_status",
                   json_text(json_get(json, "business_verification_status"), setup->arena),
                   verifications);
    setup_add_health(setup, place, json_get(json, "health_status"));
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
    struct graph_answer answer;
    struct json json;
    size_t others;
    if (!get(setup, setup->subject->token, arena_printf(setup->arena, "%s/subscribed_apps", waba),
             &json, &answer)) {
        setup_add_refusal(setup, SETUP_SUBSCRIBED_APP, SETUP_WARNING, SETUP_DO_REPEAT, &answer);
        return;
    }
    struct json own = find_app(setup, json_get(json, "data"), &others);
    if (!json_is(own))
        setup_add_here(setup, SETUP_SUBSCRIBED_APP, SETUP_FAULT,
                       others ? SETUP_OTHER_APPS : SETUP_NO_APP, SETUP_DO_SUBSCRIBE,
                       SETUP_WITH({"waba", setup->subject->waba_id}));
    else
        setup_add_here(setup, SETUP_SUBSCRIBED_APP, SETUP_OK, SETUP_APP, SETUP_NOTHING,
                       SETUP_WITH({"app", setup->app_id}));
    setup_add_override(setup, (struct setup_place){SETUP_SUBSCRIBED_APP, NULL},
                       json_text(json_get(own, "override_callback_uri"), setup->arena));
}

enum store_result setup_read(struct store *store, struct arena *arena, const struct config *config,
                             const struct store_account *account, int64_t now,
                             struct setup_subject *subject) {
    const char *url = config->public_url;
    *subject = (struct setup_subject){
        .waba_id = account->waba_id,
        .app_secret = config->app_secret,
        .callback_url = *url ? arena_printf(arena, "%s/platform/webhook", url) : NULL,
        .now = now,
    };
    return store_list_line_usage(store, arena, account->user_id, account->id, SETUP_SEARCHED_DAYS,
                                 now, &subject->lines, &subject->last, &subject->line_count);
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
    *rows = buffer_array(&setup.rows, sizeof **rows, count);
}
