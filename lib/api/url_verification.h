/* The verification of a webhook's URL at its receiver (delivery/handshake.h), one at a time for
 * each user: a slow receiver holds a process of a pool for up to 10 s, and a user must not hold all
 * of them. */
#ifndef SWITCHBOARD_URL_VERIFICATION_H
#define SWITCHBOARD_URL_VERIFICATION_H

#include "api/state.h"

/* Verifies the URL; releases the request's locks first. Returns 0, with `*reason`, why the URL
 * could not be verified, or NULL; -1 after failing the request, because another verification of the
 * caller's is in progress. */
int verify_url(struct request *rq, const char *url, struct slice verify_token, const char **reason);

#endif
