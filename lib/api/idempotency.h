/* `Idempotency-Key`, an optional header of every send and upload: the same key with the same body
 * is carried out once, and answered the same for 24 h. A key belongs to its user: on another route
 * it is refused. Without the header nothing here happens. */
#ifndef SWITCHBOARD_IDEMPOTENCY_H
#define SWITCHBOARD_IDEMPOTENCY_H

#include "api/auth.h"
#include "store/idempotency_key.h"

struct idempotency {
    struct store_idempotency_key key; /* key.key NULL: the request has none */
    struct store_idempotency stored;
    int64_t alive_at; /* clock_monotonic of its last sign of life */
};

enum idempotency_state {
    IDEMPOTENCY_FAILED = -1,
    IDEMPOTENCY_NEW,      /* go on: it has been started now, or there is no key at all */
    IDEMPOTENCY_ANSWERED, /* idempotency_replay is due */
    IDEMPOTENCY_TOLD, /* nobody knew how it ended until a status told that the message went out */
};

/* Whether the request has the header. */
bool idempotency_is_asked(void);

/* What tells the request's JSON body from others: the SHA-256 of its tokens in their order, without
 * the white space between them. Escapes, spellings of numbers and the order of members count. */
void idempotency_fingerprint(const struct request *rq, unsigned char fingerprint[32]);

/* Begins. `fingerprint` is that of the body, NULL where it is not known before the body was read.
 * Fails with 400 on a bad key, 422 when its first request was made on another route or (as far as
 * is known here) with another body, and 409 while its first request runs, or ended with an unknown
 * outcome: `details.outcome` is running or unknown. */
enum idempotency_state idempotency_begin(struct request *rq, const unsigned char *fingerprint,
                                         struct idempotency *idempotency);

/* Answers as the first request was answered, with `Idempotent-Replayed: true`. Fails with 422 when
 * its body was another one. */
int idempotency_replay(struct request *rq, const struct idempotency *idempotency,
                       const unsigned char fingerprint[32]);

/* Lets others know that what begin started still runs; to be called while it goes on for long. */
void idempotency_keep_alive(struct request *rq, struct idempotency *idempotency);

/* Ends what begin started: keeps the request's answer, or forgets the key when the platform was
 * never asked. `fingerprint` NULL: the body never came whole, and nothing was carried out. */
void idempotency_end(struct request *rq, const struct idempotency *idempotency,
                     const unsigned char *fingerprint);

/* Fails with 422 when the first request's body was another one. */
int idempotency_check_body(struct request *rq, const struct idempotency *idempotency,
                           const unsigned char fingerprint[32]);

/* Of IDEMPOTENCY_TOLD, after its body was checked: answers 200 with `data`, which is replayed from
 * now on. Returns 0. */
int idempotency_resolve(struct request *rq, const struct idempotency *idempotency,
                        struct slice data);

#endif
