/* A webhook as the API shows it, and its code: the secret that signs what is posted to it. */
#ifndef SWITCHBOARD_WEBHOOK_VIEW_H
#define SWITCHBOARD_WEBHOOK_VIEW_H

#include "api/auth.h"
#include "store/user_webhook.h"

/* A code of the caller to be sealed and stored. */
struct webhook_code {
    struct request *rq;
    struct slice text;
    struct slice sealed; /* the last result of webhook_code_seal */
};

/* Seals the code, the `context`, with the present keys: the function of a struct store_secret. */
struct slice webhook_code_seal(void *context);

/* Decrypts the webhook's code. Returns 0, or -1 after failing the request. `*code` is empty when it
 * is unset; p == NULL when the present keys do not open it, which the log then says. */
int webhook_view_code(struct request *rq, const struct store_webhook *webhook, struct slice *code);

/* Writes the webhook as an object, with its code for a caller with SCOPE_MANAGE; else it is null.
 * `name`: as for json_write_object. Returns 0, or -1 after failing the request. */
int webhook_view_write(struct request *rq, struct json_writer *out, const char *name,
                       const struct store_webhook *webhook);

#endif
