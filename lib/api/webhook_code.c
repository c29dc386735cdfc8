#include "api/webhook_code.h"

#include "store/seal_context.h"

struct slice webhook_code_seal(void *context) {
    struct webhook_code *code = context;
    const char *owner = code->rq->caller->user.id;
    return state_seal(code->rq, code->text, webhook_code_context(code->rq->arena, owner),
                      &code->sealed);
}
