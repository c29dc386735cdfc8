/* The code of a webhook: the secret that signs what is posted to it. */
#ifndef SWITCHBOARD_API_WEBHOOK_CODE_H
#define SWITCHBOARD_API_WEBHOOK_CODE_H

#include "api/auth.h"

/* A code of the caller to be sealed and stored. */
struct webhook_code {
    struct request *rq;
    struct slice text;
    struct slice sealed; /* the last result of webhook_code_seal */
};

/* Seals the code, the `context`, with the present keys: the function of a struct store_secret. */
struct slice webhook_code_seal(void *context);

#endif
