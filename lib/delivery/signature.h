/* The signatures of an outbound event: by Standard Webhooks 1.0.0, and in the platform's format.
 * The keys are derived from the webhook code, which may be any text (spec 4.7). */
#ifndef SWITCHBOARD_EVENT_SIGNATURE_H
#define SWITCHBOARD_EVENT_SIGNATURE_H

#include <stdint.h>

#include "base/arena.h"

/* Returns the value of `webhook-signature`, in `arena`: a list of `v1,<base64>`, each the
 * HMAC-SHA256 of `id.timestamp.body`. Each of the `count` codes makes one or two entries. The key
 * of the first is the bytes of the code. The key of the second is the base64-decoded code, without
 * a leading `whsec_`, if that has at least 24 bytes. So libraries that decode the code and those
 * that do not can verify the event. `timestamp` is in seconds. */
char *event_signature_list(struct arena *arena, const char *id, int64_t timestamp,
                           struct slice body, const struct slice *codes, size_t count);

/* Returns the value of `X-Hub-Signature-256`, in `arena`: `sha256=` and the hexadecimal HMAC-SHA256
 * of the body, with the code as the key. */
char *event_signature_hub(struct arena *arena, struct slice body, struct slice code);

#endif
