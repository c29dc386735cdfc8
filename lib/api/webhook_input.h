/* The body that makes or changes a webhook. */
#ifndef SWITCHBOARD_WEBHOOK_INPUT_H
#define SWITCHBOARD_WEBHOOK_INPUT_H

#include "api/auth.h"
#include "store/user_webhook.h"

/* The fields of the body that makes a webhook, and of the one that changes it. */
extern const struct field webhook_new_fields[], webhook_fields[];

/* What a body asks for. */
struct webhook_input {
    struct store_webhook_change change; /* without id and code */
    struct slice code;                  /* p == NULL: not given */
    struct slice verify_token;          /* p == NULL: not given */
    bool is_forward;
};

/* Reads the JSON body. `present` is the webhook that is to change; NULL: a new one. Checks all that
 * needs no network, and that the lines are of the caller. Returns 0, or -1 after failing the
 * request. */
int webhook_input_read(struct request *rq, const struct store_webhook *present,
                       struct webhook_input *input);

#endif
