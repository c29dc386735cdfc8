#include "api/webhook_code.h"

#include "base/seal.h"
#include "store/seal_context.h"

struct slice webhook_code_seal(void *context) {
    struct webhook_code *code = context;
    struct request *rq = code->rq;
    const struct keyring *keys = state_keys(rq);
    if (!keys)
        return (struct slice){NULL, 0};
    if (!code->sealed.p || (uint8_t)code->sealed.p[0] != keyring_newest(keys)->id)
        code->sealed = seal_secret(keys, rq->arena, code->text,
                                   webhook_code_context(rq->arena, rq->caller->user.id));
    return code->sealed;
}
