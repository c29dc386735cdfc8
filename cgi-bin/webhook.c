/* /v2/webhooks: the caller's webhooks, to which events and the platform's POSTs go. The routes
 * below it that have no id are those of the first one: webhook_config.c. */
#include "api/idempotency.h"
#include "api/paging.h"
#include "api/test_event.h"
#include "api/url_verification.h"
#include "api/view/webhook_view.h"
#include "api/webhook_input.h"
#include "base/crypto.h"
#include "base/http_client.h"
#include "delivery/wake.h"
#include "payload/webhook_rules.h"

/* --- the list --- */

static const struct field list_query[] = {PAGING_FIELDS, {0}};

static int get_webhooks(struct request *rq) {
    struct store_page page;
    struct store_webhook *webhooks;
    struct json_writer data;
    size_t count;
    if (paging_page(rq, "whk_", &page))
        return -1;
    enum store_result result = store_list_webhooks(rq->caller->store, rq->arena,
                                                   rq->caller->user.id, &page, &webhooks, &count);
    if (result != STORE_OK)
        return state_fail(rq, result);
    const bool has_more = paging_has_more(rq, &count);
    paging_start(rq, &data);
    for (size_t i = 0; i < count; i++)
        if (webhook_view_write(rq, &data, NULL, &webhooks[i]))
            return -1;
    return paging_reply(rq, &data, has_more ? webhooks[count - 1].id : NULL);
}

/* --- one webhook --- */

static int fail_webhook(struct request *rq, enum store_result result) {
    return state_fail_absent(rq, result,
                             "There is no webhook with this id: GET /v2/webhooks lists them.");
}

static int find_webhook(struct request *rq, const char *id, struct store_webhook *webhook) {
    enum store_result result =
        store_find_webhook(rq->caller->store, rq->arena, rq->caller->user.id, id, webhook);
    return result == STORE_OK ? 0 : fail_webhook(rq, result);
}

static int find_named(struct request *rq, struct store_webhook *webhook) {
    return find_webhook(rq, request_segment(rq), webhook);
}

static int reply_webhook(struct request *rq, const char *id) {
    struct store_webhook webhook;
    struct json_writer data;
    if (find_webhook(rq, id, &webhook))
        return -1;
    json_write_start(&data, rq->arena);
    if (webhook_view_write(rq, &data, NULL, &webhook))
        return -1;
    return reply_data(rq, json_written(&data));
}

static int get_webhook(struct request *rq) {
    return reply_webhook(rq, request_segment(rq));
}

/* --- making and changing one --- */

/* Verifies the URL at its receiver if the body has a verify token, which a new URL of the kind
 * forward requires. Returns 0, or -1 after failing the request. */
static int verify(struct request *rq, const struct store_webhook *present,
                  const struct webhook_input *input) {
    const char *url = input->change.sets_url ? input->change.url : present->url, *reason;
    if (!input->verify_token.p)
        return 0;
    if (verify_url(rq, url, input->verify_token, &reason))
        return -1;
    if (!reason)
        return 0;
    return fail_on_issue(rq, "url", "invalid_value",
                         arena_printf(rq->arena, "could not be verified: %s", reason));
}

/* Makes the webhook, unless an earlier request with the same Idempotency-Key has made it. */
static int make_webhook(struct request *rq, const char *request_id, const void *none) {
    (void)none;
    struct webhook_input input;
    struct store_webhook made;
    const char *id = idempotency_id(rq, "whk_", request_id);
    if (store_find_webhook(rq->caller->store, rq->arena, rq->caller->user.id, id, &made) ==
        STORE_OK) {
        rq->has_trail = true; /* by that request */
        return reply_webhook(rq, id);
    }
    if (webhook_input_read(rq, NULL, &input) || verify(rq, NULL, &input))
        return -1;
    struct webhook_code code = {.rq = rq,
                                .text = input.code.p ? input.code : webhook_code_make(rq->arena)};
    const struct store_secret secret = {webhook_code_seal, &code};
    input.change.id = id;
    input.change.code = &secret;
    enum store_result result = store_insert_webhook(rq->caller->store, &input.change);
    if (result == STORE_CONFLICT)
        return fail(rq, CONFLICT, "The user has %d webhooks already; delete one.",
                    STORE_WEBHOOKS_KEPT);
    return result == STORE_OK ? reply_webhook(rq, id) : state_fail(rq, result);
}

static int post_webhook(struct request *rq) {
    return idempotency_run(rq, make_webhook, NULL);
}

/* A code that equals the stored one is not stored again, so that it does not count as replaced. A
 * webhook without a code gets one with its URL, as a new one does. */
static int patch_webhook(struct request *rq) {
    struct store_webhook present;
    struct webhook_input input;
    struct slice stored;
    if (find_named(rq, &present) || webhook_input_read(rq, &present, &input) ||
        webhook_view_code(rq, &present, &stored) || verify(rq, &present, &input))
        return -1;
    if (!input.code.p && input.change.sets_url && !present.sealed_code.n)
        input.code = webhook_code_make(rq->arena);
    struct webhook_code code = {.rq = rq, .text = input.code};
    const struct store_secret secret = {webhook_code_seal, &code};
    input.change.id = present.id;
    if (input.code.p && !crypto_equal(stored, input.code))
        input.change.code = &secret;
    enum store_result result = store_change_webhook(rq->caller->store, &input.change);
    if (result != STORE_OK)
        return fail_webhook(rq, result);
    if (input.change.sets_url || input.change.resumes)
        wake_notify(rq->config);
    return reply_webhook(rq, present.id);
}

static int delete_webhook(struct request *rq) {
    enum store_result result =
        store_delete_webhook(rq->caller->store, rq->caller->user.id, request_segment(rq), rq->now);
    return result == STORE_OK ? reply_data(rq, SLICE("{\"deleted\":true}"))
                              : fail_webhook(rq, result);
}

/* --- its test --- */

/* The webhook cannot be tried: says why. */
static int fail_test(struct request *rq, enum store_result result) {
    struct store_webhook webhook;
    if (result != STORE_CONFLICT)
        return fail_webhook(rq, result);
    if (find_named(rq, &webhook))
        return -1;
    return fail(rq, CONFLICT, "%s",
                webhook.paused_at != INT64_MAX
                    ? "This webhook is paused; PATCH /v2/webhooks/:webhookId with "
                      "\"paused\": false resumes it."
                    : "This webhook has no url or no code; PATCH /v2/webhooks/:webhookId sets "
                      "them.");
}

/* The result is that of any other event: GET /v2/events/:eventId shows it. */
static int post_test(struct request *rq) {
    return test_event_post(rq, request_segment(rq), fail_test);
}

/* --- the program --- */

/* clang-format off */
static const struct route routes[] = {
    {.method = "GET", .path = "/v2/webhooks",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = get_webhooks, .query = list_query},
    {.method = "POST", .path = "/v2/webhooks",
     .trail = "webhook.create",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = post_webhook,
     .fields = webhook_new_fields},
    {.method = "GET", .path = "/v2/webhooks/:webhookId",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = get_webhook},
    {.method = "PATCH", .path = "/v2/webhooks/:webhookId",
     .trail = "webhook.update",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = patch_webhook,
     .fields = webhook_fields},
    {.method = "POST", .path = "/v2/webhooks/:webhookId/test",
     .trail = "webhook.test",
     .scope = SCOPE_EVENTS, .guard = &caller_guard, .handle = post_test, .fields = field_none},
    {.method = "DELETE", .path = "/v2/webhooks/:webhookId",
     .trail = "webhook.delete",
     .scope = SCOPE_MANAGE, .guard = &caller_guard, .handle = delete_webhook},
    {0},
};
/* clang-format on */

const struct service this_service = {.name = "webhook",
                                     .routes = routes,
                                     .needs = WRITES_DATABASE | USES_KEYS | NOTIFIES_COURIER |
                                              CALLS_WEBHOOKS,
                                     .load = http_prepare,
                                     .takes_rewrites = true};
