/* Requests made with an Idempotency-Key: each key runs once (draft-ietf-httpapi-idempotency-key). */
#ifndef SWITCHBOARD_STORE_IDEMPOTENCY_H
#define SWITCHBOARD_STORE_IDEMPOTENCY_H

#include "store/store.h"

enum { IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000 }; /* then a key may be used for something else */

/* A key belongs to its user. */
struct store_idempotency_key {
    const char *user_id;
    const char *key;
};

/* What is known of a key. */
struct store_idempotency {
    bool is_new;               /* nothing was: it has been started now */
    char request_id[ID_SIZE];  /* of the request that started it; the platform echoes it */
    int64_t started_at;        /* or its last sign of life */
    const char *route;         /* method and path of that request */
    unsigned char fingerprint[32]; /* of the body */
    int status;                /* HTTP status of the answer; 0: none yet */
    struct slice answer;       /* its body */
    const char *wamid;         /* what a status told of the message that was sent; NULL: none did */
    const char *wa_id;         /* the phone as that status named it; NULL: it did not */
};

/* Starts the key, or tells what became of it. Keys older than 24 h are forgotten. `found` holds the
 * request id, route and fingerprint to start it with. */
enum store_result store_begin_idempotent(struct store *store, struct arena *arena,
                                         const struct store_idempotency_key *key, int64_t now,
                                         struct store_idempotency *found);

/* The started key's request still runs at `now`. */
enum store_result store_touch_idempotent(struct store *store,
                                         const struct store_idempotency_key *key, int64_t now);

/* Keeps the answer of a started key, and the fingerprint, which may not have been known before. */
enum store_result store_finish_idempotent(struct store *store,
                                          const struct store_idempotency_key *key,
                                          const unsigned char fingerprint[32], int status,
                                          struct slice answer);

/* Forgets a started key: nothing was done. */
enum store_result store_forget_idempotent(struct store *store,
                                          const struct store_idempotency_key *key);

#endif
