#include "api/webhook_code.h"

#include "base/crypto.h"
#include "base/seal.h"
#include "store/seal_context.h"

enum { CODE_BYTES = 32 }; /* 64 hexadecimal characters (spec 8) */

struct slice webhook_code_make(struct arena *arena) {
    unsigned char random[CODE_BYTES];
    crypto_random(random, sizeof random);
    return slice_of(crypto_hex(arena, random, sizeof random));
}

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
