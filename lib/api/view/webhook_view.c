#include "api/view/webhook_view.h"

#include "base/log.h"
#include "payload/webhook_json.h"
#include "store/seal_context.h"

struct slice webhook_code_seal(void *context) {
    struct webhook_code *code = context;
    const char *owner = code->rq->caller->user.id;
    return state_seal(code->rq, code->text, webhook_code_context(code->rq->arena, owner),
                      &code->sealed);
}

/* Reads the code again; none when the webhook was deleted meanwhile. */
static int read_again(struct request *rq, struct state_sealed *value) {
    const struct store_webhook *webhook = value->object;
    struct store_webhook now;
    enum store_result result =
        store_find_webhook(rq->caller->store, rq->arena, webhook->user_id, webhook->id, &now);
    value->sealed = result == STORE_OK ? now.sealed_code : (struct slice){NULL, 0};
    return result == STORE_OK || result == STORE_NOT_FOUND ? 0 : state_fail(rq, result);
}

int webhook_view_code(struct request *rq, const struct store_webhook *webhook, struct slice *code) {
    struct store_webhook copy = *webhook;
    struct state_sealed value = {
        .sealed = webhook->sealed_code,
        .context = webhook_code_context(rq->arena, webhook->user_id),
        .read_again = read_again,
        .object = &copy,
    };
    *code = state_open_sealed(rq, &value);
    if (rq->failure.code)
        return -1;
    if (!code->p)
        log_message(LOG_ERROR, "request %s: the code of webhook %s cannot be decrypted", rq->id,
                    webhook->id);
    return 0;
}

int webhook_view_write(struct request *rq, struct json_writer *out, const char *name,
                       const struct store_webhook *webhook) {
    struct slice code = {NULL, 0};
    if (rq->caller->scopes & SCOPE_MANAGE && webhook_view_code(rq, webhook, &code))
        return -1;
    json_write_object(out, name);
    webhook_json_write(out, webhook, &code);
    json_write_end(out);
    return 0;
}
