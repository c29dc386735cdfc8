/* `Idempotency-Key`, an optional header of all sends, of uploads, of new webhooks and of new notes
 * and canned replies: requests with the same key and the same body are carried out once, and get
 * the same reply for 24 h. A key belongs to a user and to the route of its first request; on other
 * routes it is refused. Requests without the header are not affected. */
#ifndef SWITCHBOARD_IDEMPOTENCY_H
#define SWITCHBOARD_IDEMPOTENCY_H

#include "api/auth.h"
#include "delivery/kept_record.h"
#include "store/idempotency_key.h"

/* Handles a request that a key or its own id names. `subject` is the caller's; NULL: it has none.
 */
typedef int idempotency_act(struct request *rq, const char *request_id, const void *subject);

struct idempotency {
    struct store_idempotency_key key; /* key.key NULL: the request has no key */
    unsigned char fingerprint[32];    /* of the request's body; zeros: not read yet */
    struct store_idempotency stored;
    int64_t heartbeat_at;   /* clock_monotonic of its last heartbeat */
    bool is_kept;           /* its reply is in a file that the courier stores */
    bool may_continue;      /* a request that ended without an answer may be carried out again */
    idempotency_act *again; /* answers from the effect; NULL: the stored answer counts */
};

enum idempotency_state {
    IDEMPOTENCY_FAILED = -1, /* the request has failed */
    IDEMPOTENCY_NEW,         /* the key was stored now, or the request has none: carry it out */
    IDEMPOTENCY_REPLIED,     /* the reply is stored: call idempotency_replay */
    IDEMPOTENCY_ACCEPTED,    /* the platform's answer was lost, but a status shows that it accepted
                                the message: call idempotency_check_body and idempotency_resolve */
};

/* Whether the request has the header. */
bool idempotency_has_key(void);

/* Computes the fingerprint of the request's JSON body: the SHA-256 of its tokens in their order,
 * without the white space between them. Other escapes, other spellings of numbers and another order
 * of members make another fingerprint. */
void idempotency_fingerprint(const struct request *rq, unsigned char fingerprint[32]);

/* Stores the request's key, or finds what is stored for it. The fingerprint is set already, unless
 * the body was not read yet. Fails the request with 400 for an invalid key; 422 when the key's
 * first request was on another route or, if the body was read and no reply is stored, had another
 * body; and 409 when the first request still runs or has an unknown outcome (`details.outcome`:
 * running or unknown). */
enum idempotency_state idempotency_begin(struct request *rq, struct idempotency *idempotency);

/* Replies with the stored reply and `Idempotent-Replayed: true`. Fails with 422 when the first
 * request had another body. */
int idempotency_replay(struct request *rq, const struct idempotency *idempotency);

/* Stores a heartbeat of the key, at most every 10 s. To be called repeatedly during a long request,
 * so that other requests with the key see that this one still runs. */
void idempotency_keep_alive(struct request *rq, struct idempotency *idempotency);

/* Ends a request that idempotency_begin started: stores its reply, or deletes the key when no
 * request was sent to the platform. Unless the body `is_whole`, nothing was carried out, and the
 * key is deleted. */
void idempotency_end(struct request *rq, struct idempotency *idempotency, bool is_whole);

/* Adds the request's key and its reply to the record. */
void idempotency_describe(struct request *rq, const struct idempotency *idempotency,
                          struct kept_record *record);

/* Returns 0 when the first request had the same body, and adds `Idempotent-Replayed: true`; fails
 * with 422 when it had another one. */
int idempotency_check_body(struct request *rq, const struct idempotency *idempotency);

/* For IDEMPOTENCY_ACCEPTED, after idempotency_check_body: stores the reply that the caller has
 * made; later requests get it. Returns 0. */
int idempotency_resolve(struct request *rq, const struct idempotency *idempotency);

/* Handles a request whose whole effect is in the database: calls `act` once for each key, or
 * without one, and stores its success. `request_id` is the same in each call for a key: `act`
 * derives from it the ids of what it makes (idempotency_id), so that a second call, after the first
 * one ended without an answer, finds that. `again` answers a later request with the key from the
 * effect, so that no text is kept twice; it changes nothing, and fails when the effect is gone.
 * NULL: the answer holds a secret, and is stored, sealed. Returns 0, or -1 after failing the
 * request. */
int idempotency_run(struct request *rq, idempotency_act *act, idempotency_act *again);

/* The same for a send that is queued; its answer is 202 and no secret. Its key is of another route
 * than that of a send that is not queued, so that a request which is repeated in the other way is
 * refused with 422, and its message is not sent twice. `act` gets the `subject`. */
int idempotency_queue(struct request *rq, idempotency_act *act, const void *subject);

/* Returns the id of what the request makes: `prefix`, such as `not_`, and the rest of its id. */
const char *idempotency_id(struct request *rq, const char *prefix, const char *request_id);

#endif
