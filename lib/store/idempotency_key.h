/* Idempotency keys: a request with an Idempotency-Key runs once
 * (draft-ietf-httpapi-idempotency-key). */
#ifndef SWITCHBOARD_STORE_IDEMPOTENCY_H
#define SWITCHBOARD_STORE_IDEMPOTENCY_H

#include "store/store.h"

enum { IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000 }; /* after that the key can be used again */

/* A key belongs to its user. */
struct store_idempotency_key {
    const char *user_id;
    const char *key;
};

/* The stored state of a key. */
struct store_idempotency {
    bool is_new;                   /* the key was not stored: it is started now */
    char request_id[ID_SIZE];      /* of the request that started the key; the platform echoes it */
    int64_t started_at;            /* or the last store_update_idempotency_heartbeat */
    const char *route;             /* method and path of the request */
    unsigned char fingerprint[32]; /* of the body */
    int status;                    /* HTTP status of the answer; 0: no answer yet */
    struct slice answer;           /* its body */
    bool is_sealed;                /* the answer is sealed with idempotency_answer_context */
    const char *wamid;             /* of the message, where a status reported it; NULL: none did */
    const char *wa_id;             /* the phone in that status; NULL: none */
};

/* Starts the key with the request id, route and fingerprint in `found`; if it is stored already,
 * and not older than 24 h, reads its state into `found`. A key that this request id started is new.
 */
enum store_result store_insert_idempotency_key(struct store *store, struct arena *arena,
                                               const struct store_idempotency_key *key, int64_t now,
                                               struct store_idempotency *found);

/* The calls below change only a key that the request `request_id` started: after a lost connection
 * they may be carried out a second time, when another request has started the key. */

/* Sets the time of the started key to `now`: its request is still running. */
enum store_result store_update_idempotency_heartbeat(struct store *store,
                                                     const struct store_idempotency_key *key,
                                                     const char *request_id, int64_t now);

/* Stores the answer of a started key, and the fingerprint, which was unknown at its start if the
 * body was not read yet. */
enum store_result store_update_idempotency_key(struct store *store,
                                               const struct store_idempotency_key *key,
                                               const char *request_id,
                                               const unsigned char fingerprint[32], int status,
                                               struct slice answer);

/* The same for an answer that holds a secret, with status 200. */
enum store_result store_seal_idempotency_key(struct store *store,
                                             const struct store_idempotency_key *key,
                                             const char *request_id,
                                             const struct store_secret *answer);

/* Deletes a started key: its request did nothing. */
enum store_result store_delete_idempotency_key(struct store *store,
                                               const struct store_idempotency_key *key,
                                               const char *request_id);

#endif
