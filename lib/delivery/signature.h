/* How an outbound event is signed: after Standard Webhooks 1.0.0, and as the platform signs its
 * own webhooks. The keys come from the webhook code, which may be any text (spec 4.7). */
#ifndef SWITCHBOARD_EVENT_SIGNATURE_H
#define SWITCHBOARD_EVENT_SIGNATURE_H

#include <stdint.h>

#include "base/arena.h"

/* The value of `webhook-signature`: a list of `v1,<base64>`, each the HMAC-SHA256 of
 * `id.timestamp.body`. Each of the `count` codes gives one or two: with the code's own bytes as the
 * key, and with what it is the base64 of (a leading `whsec_` left out) where that is at least 24
 * bytes, so that libraries verify whichever way they are given the code. `timestamp` is in
 * seconds. In `arena`. */
char *event_signature_list(struct arena *arena, const char *id, int64_t timestamp,
                           struct slice body, const struct slice *codes, size_t count);

/* The value of `X-Hub-Signature-256`: `sha256=` and the hexadecimal HMAC-SHA256 of the body with
 * the code as the key. In `arena`. */
char *event_signature_hub(struct arena *arena, struct slice body, struct slice code);

#endif
