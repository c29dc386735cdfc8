/* The verification of a webhook URL to which the platform's POSTs are to be forwarded. The platform
 * verifies a URL in the same way before it accepts it, so a receiver that is made for the platform
 * answers: GET URL?hub.mode=subscribe&hub.verify_token=TOKEN&hub.challenge=NUMBER, and the body of
 * the answer, a 200, is NUMBER and nothing else.
 *
 * The request obeys the rules of deliveries (attempt.h, http_client.h). It takes 10 s at most, and
 * reads at most 4 KB of the answer's body.
 *
 * A program that calls this needs CALLS_WEBHOOKS (need.h) and must call http_prepare before it is
 * confined. It must not hold a transaction during the call.
 */
#ifndef SWITCHBOARD_DELIVERY_HANDSHAKE_H
#define SWITCHBOARD_DELIVERY_HANDSHAKE_H

#include "base/arena.h"
#include "base/config.h"

/* Verifies `url`, which url_check accepts, with the receiver's verify token. Returns NULL when the
 * receiver confirmed it; else the reason for people, in `arena`: a clause without a full stop, such
 * as "HTTP 403 was answered instead of 200: the verify token may be wrong". It never holds the
 * token or any byte of the answer. */
const char *handshake_verify(struct arena *arena, const struct config *config, const char *url,
                             struct slice verify_token);

#endif
