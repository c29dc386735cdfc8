/* The body that makes or changes a webhook. */
#ifndef SWITCHBOARD_DESTINATION_INPUT_H
#define SWITCHBOARD_DESTINATION_INPUT_H

#include "api/auth.h"
#include "store/destination.h"

/* The fields of the body that makes a webhook, and of the one that changes it. */
extern const struct field destination_new_fields[], destination_fields[];

/* What a body asks for. */
struct destination_input {
    struct destination_change change; /* without id and code */
    struct slice code;                /* p == NULL: not given */
    struct slice verify_token;        /* p == NULL: not given */
    bool is_forward;
};

/* Reads the JSON body. `present` is the webhook that is to change; NULL: a new one. Checks all that
 * needs no network, and that the lines are of the caller. Returns 0, or -1 after failing the
 * request. */
int destination_input_read(struct request *rq, const struct store_destination *present,
                           struct destination_input *input);

#endif
