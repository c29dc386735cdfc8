/* /v2/webhooks/config, test and generate-code: the URL and the code of the caller's first webhook
 * (spec 4.7). */
#include "api/auth.h"
#include "api/test_event.h"
#include "api/view/webhook_view.h"
#include "base/crypto.h"
#include "base/log.h"
#include "payload/webhook_rules.h"
#include "store/seal_context.h"
#include "store/user_webhook.h"

static int find_webhook(struct request *rq, struct state_sealed *value) {
    const struct caller *caller = rq->caller;
    struct store_webhook *webhook = value->object;
    enum store_result result =
        store_find_first_webhook(caller->store, rq->arena, caller->user.id, webhook);
    value->sealed = webhook->sealed_code;
    return result == STORE_OK ? 0 : state_fail(rq, result);
}

/* Reads the caller's webhook and decrypts its code: empty when unset, p == NULL when it cannot be
 * decrypted. Returns 0, or -1 after failing the request. */
static int read_webhook(struct request *rq, struct store_webhook *webhook, struct slice *code) {
    const char *user_id = rq->caller->user.id;
    struct state_sealed value = {.context = webhook_code_context(rq->arena, user_id),
                                 .read_again = find_webhook,
                                 .object = webhook};
    if (find_webhook(rq, &value))
        return -1;
    *code = state_open_sealed(rq, &value);
    if (rq->failure.code)
        return -1;
    if (!code->p)
        log_message(LOG_ERROR, "request %s: the webhook code of user %s cannot be decrypted",
                    rq->id, user_id);
    return 0;
}

static int reply_config(struct request *rq, struct slice url, struct slice code) {
    struct json_writer data;
    reply_start(rq, &data);
    json_write_string(&data, "webhookUrl", url);
    json_write_string(&data, "webhookCode", code);
    json_write_bool(&data, "isVerified", false);
    json_write_null(&data, "lastVerified");
    return reply_object(rq, &data);
}

static int get_config(struct request *rq) {
    struct store_webhook webhook;
    struct slice code;
    if (read_webhook(rq, &webhook, &code))
        return -1;
    if (!code.p)
        return fail(rq, INTERNAL, "The gateway cannot decrypt the webhook code; set a new one.");
    return reply_config(rq, slice_of(webhook.url), code);
}

/* A code that equals the stored one is not stored again, so that it does not count as replaced. */
static int post_config(struct request *rq) {
    const char *url = json_text(json_get(rq->json, "webhookUrl"), rq->arena);
    struct webhook_code code = {.rq = rq,
                                .text = json_string(json_get(rq->json, "webhookCode"), rq->arena)};
    const struct store_secret secret = {webhook_code_seal, &code};
    struct store_webhook webhook;
    struct slice stored;
    if (read_webhook(rq, &webhook, &stored))
        return -1;
    bool is_same = crypto_equal(stored, code.text);
    enum store_result result = store_upsert_webhook_config(rq->caller->store, rq->caller->user.id,
                                                           url, is_same ? NULL : &secret, rq->now);
    return result == STORE_OK ? reply_config(rq, slice_of(url), code.text) : state_fail(rq, result);
}

static int delete_config(struct request *rq) {
    enum store_result result =
        store_delete_webhook_config(rq->caller->store, rq->caller->user.id, rq->now);
    return result == STORE_OK ? reply_data(rq, SLICE("{\"cleared\":true}"))
                              : state_fail(rq, result);
}

static int post_generate_code(struct request *rq) {
    struct webhook_code code = {.rq = rq, .text = webhook_code_make(rq->arena)};
    enum store_result result =
        store_upsert_webhook_config(rq->caller->store, rq->caller->user.id, NULL,
                                    &(struct store_secret){webhook_code_seal, &code}, rq->now);
    if (result != STORE_OK)
        return state_fail(rq, result);
    struct json_writer data;
    reply_start(rq, &data);
    json_write_string(&data, "webhookCode", code.text);
    return reply_object(rq, &data);
}

static int fail_test(struct request *rq, enum store_result result) {
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT,
                    "There is no webhook to deliver to; POST /v2/webhooks/config sets one.");
    return state_fail(rq, result);
}

/* The result is that of any other event: GET /v2/events/:eventId shows it. */
static int post_test(struct request *rq) {
    return test_event_post(rq, NULL, fail_test);
}

static const struct field config_fields[] = {
    {.name = "webhookUrl",
     .type = FIELD_STRING,
     .required = true,
     .rule = &field_url_rule,
     .example = "https://example.org/hook"},
    {.name = "webhookCode",
     .type = FIELD_STRING,
     .required = true,
     .rule = &webhook_code_rule,
     .example = "s3cret"},
    {0},
};

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/webhooks/config",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = get_config},
    {.method = "POST", .path = "/v2/webhooks/config",
     .trail = "webhook.update",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_config, .fields = config_fields},
    {.method = "POST", .path = "/v2/webhooks/test",
     .trail = "webhook.test",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = post_test, .fields = field_none},
    {.method = "DELETE", .path = "/v2/webhooks/config",
     .trail = "webhook.clear",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = delete_config},
    {.method = "POST", .path = "/v2/webhooks/generate-code",
     .trail = "webhook.new_code",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_generate_code,
     .fields = field_none},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "webhook_config",
                                     .routes = routes,
                                     .needs = WRITES_DATABASE | USES_KEYS | NOTIFIES_COURIER};
