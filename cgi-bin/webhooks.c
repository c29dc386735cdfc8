/* /v2/webhooks: where our own events go (spec 4.7). */
#include "auth.h"
#include "base/log.h"
#include "base/url.h"
#include "store/places.h"
#include "store/webhook.h"

enum { CODE_BYTES = 32 }; /* 64 hexadecimal characters (spec 8) */

/* The decrypted code: empty when unset; p == NULL after failing. */
static struct slice open_code(struct request *rq, struct slice sealed) {
    if (!sealed.n)
        return SLICE("");
    const struct keyring *keys = state_keys(rq);
    struct slice code = {NULL, 0};
    if (keys)
        code = crypto_open(keys, rq->arena, sealed,
                           webhook_code_place(rq->arena, rq->caller->user.id));
    if (keys && !code.p) {
        log_message(LOG_ERROR, "request %s: the webhook code of user %s cannot be decrypted",
                    rq->id, rq->caller->user.id);
        fail(rq, INTERNAL, "The gateway cannot decrypt the webhook code; set a new one.");
    }
    return code;
}

/* The code sealed for storing; p == NULL after failing. */
static struct slice seal_code(struct request *rq, struct slice code) {
    const struct keyring *keys = state_keys(rq);
    return keys ? crypto_seal(keys, rq->arena, code,
                              webhook_code_place(rq->arena, rq->caller->user.id))
                : (struct slice){NULL, 0};
}

static int reply_config(struct request *rq, struct slice url, struct slice code) {
    struct json_writer data;
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_string(&data, "webhookUrl", url);
    json_write_string(&data, "webhookCode", code);
    json_write_bool(&data, "isVerified", false);
    json_write_null(&data, "lastVerified");
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

static int get_config(struct request *rq) {
    struct store_webhook webhook;
    enum store_result result =
        store_get_webhook(rq->caller->store, rq->arena, rq->caller->user.id, &webhook);
    if (result != STORE_OK)
        return state_fail(rq, result);
    struct slice code = open_code(rq, webhook.sealed_code);
    return code.p ? reply_config(rq, slice_of(webhook.url), code) : -1;
}

/* The code to store: nothing when it is the one already stored, which then keeps its age. */
static int changed_code(struct request *rq, struct slice wanted, struct slice *sealed) {
    struct store_webhook webhook;
    enum store_result result =
        store_get_webhook(rq->caller->store, rq->arena, rq->caller->user.id, &webhook);
    *sealed = (struct slice){NULL, 0};
    if (result != STORE_OK)
        return state_fail(rq, result);
    struct slice stored = open_code(rq, webhook.sealed_code);
    if (!stored.p)
        return -1;
    if (crypto_equal(stored, wanted))
        return 0;
    *sealed = seal_code(rq, wanted);
    return sealed->p ? 0 : -1;
}

static int post_config(struct request *rq) {
    const char *url = json_text(json_get(rq->json, "webhookUrl"), rq->arena);
    struct slice code = json_string(json_get(rq->json, "webhookCode"), rq->arena), sealed;
    if (changed_code(rq, code, &sealed))
        return -1;
    enum store_result result =
        store_set_webhook(rq->caller->store, rq->caller->user.id, url, sealed, rq->now);
    return result == STORE_OK ? reply_config(rq, slice_of(url), code) : state_fail(rq, result);
}

static int delete_config(struct request *rq) {
    enum store_result result =
        store_clear_webhook(rq->caller->store, rq->caller->user.id, rq->now);
    return result == STORE_OK ? reply_data(rq, SLICE("{\"cleared\":true}"))
                              : state_fail(rq, result);
}

static int post_generate_code(struct request *rq) {
    unsigned char random[CODE_BYTES];
    crypto_random(random, sizeof random);
    const char *code = crypto_hex(rq->arena, random, sizeof random);
    struct slice sealed = seal_code(rq, slice_of(code));
    if (!sealed.p)
        return -1;
    enum store_result result =
        store_set_webhook_code(rq->caller->store, rq->caller->user.id, sealed, rq->now);
    if (result != STORE_OK)
        return state_fail(rq, result);
    struct json_writer data;
    json_write_start(&data, rq->arena);
    json_write_object(&data, NULL);
    json_write_text(&data, "webhookCode", code);
    json_write_end(&data);
    return reply_data(rq, json_written(&data));
}

static const char *check_code(struct slice code) {
    return code.n > 1024 ? "must be at most 1024 bytes long" : NULL;
}

static const struct field config_fields[] = {
    {.name = "webhookUrl", .type = FIELD_STRING, .required = true, .check = url_check},
    {.name = "webhookCode", .type = FIELD_STRING, .required = true, .check = check_code},
    {0},
};

static const struct field no_fields[] = {{0}};

static const struct route routes[] = {
    {.method = "GET", .path = "/v2/webhooks/config", .guard = &token_guard, .handle = get_config},
    {.method = "POST", .path = "/v2/webhooks/config", .guard = &token_guard,
     .handle = post_config, .body = BODY_JSON, .fields = config_fields},
    {.method = "DELETE", .path = "/v2/webhooks/config", .guard = &token_guard,
     .handle = delete_config},
    {.method = "POST", .path = "/v2/webhooks/generate-code", .guard = &token_guard,
     .handle = post_generate_code, .body = BODY_JSON, .fields = no_fields},
    {0},
};

int main(void) {
    return serve(&(struct service){.name = "webhooks", .routes = routes,
                                    .needs = WRITES_DATABASE});
}
