/* `Idempotency-Key`, an optional header of every send: the same key with the same body is
 * carried out once, and answered the same for 24 h. Without the header nothing here happens. */
#ifndef SWITCHBOARD_IDEMPOTENCY_H
#define SWITCHBOARD_IDEMPOTENCY_H

#include "auth.h"
#include "store/idempotency.h"

struct idempotency {
    struct store_idempotency_key key; /* key.key NULL: the request has none */
    struct store_idempotency stored;
};

/* Begins. `fingerprint` is the SHA-256 of the body, NULL where it is not known before the body was
 * read. Returns 0 to go on (is_new, or no key at all), 1 when the key was answered before: then call
 * idempotency_replay with the fingerprint. Fails with 400 on a bad key and 409 while its first
 * request runs, or ended without anybody knowing how: `details.outcome` is running or unknown. */
int idempotency_begin(struct request *rq, const unsigned char *fingerprint,
                      struct idempotency *idempotency);

/* Answers as the first request was answered, with `Idempotent-Replayed: true`. Fails with 422 when
 * its body was another one. */
int idempotency_replay(struct request *rq, const struct idempotency *idempotency,
                       const unsigned char fingerprint[32]);

/* Ends what begin started: keeps the request's answer, or forgets the key when the platform was
 * never asked. */
void idempotency_end(struct request *rq, const struct idempotency *idempotency,
                     const unsigned char fingerprint[32]);

#endif
