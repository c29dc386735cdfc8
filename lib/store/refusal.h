/* Webhook payloads with a valid signature that are too large to be stored at once, and updates for
 * a line under the WABA id of another account: kept for the operator. */
#ifndef SWITCHBOARD_STORE_REFUSAL_H
#define SWITCHBOARD_STORE_REFUSAL_H

#include "store/store.h"

struct store_refusal {
    const char *id, *reason;
    int64_t size;    /* bytes */
    int64_t updates; /* -1: not counted yet */
    int64_t count;   /* how often it arrived */
    int64_t first_at, last_at;
    struct slice body; /* store_find_refusal only */
};

/* Inserts the payload, or counts one that is stored already. Deletes those that last arrived 30
 * days ago. STORE_FULL: 64 MiB or 1,000 payloads are stored. */
enum store_result store_upsert_refusal(struct store *store, const char *id, const char *reason,
                                       int64_t updates, struct slice body, int64_t now);

/* Lists all payloads without their bodies, newest first. */
enum store_result store_list_refusals(struct store *store, struct arena *arena,
                                      struct store_refusal **refusals, size_t *count);

/* STORE_NOT_FOUND: no payload has this id. */
enum store_result store_find_refusal(struct store *store, struct arena *arena, const char *id,
                                     struct store_refusal *refusal);
enum store_result store_delete_refusal(struct store *store, const char *id);

/* A line, and the WABA id of another account that its updates arrived under. */
struct store_foreign {
    const char *phone_number_id, *own_waba_id, *waba_id;
    int64_t count, first_at, last_at;
};

/* Lists those whose last update arrived at `since` or later, newest first. */
enum store_result store_list_foreign_wabas(struct store *store, struct arena *arena, int64_t since,
                                           struct store_foreign **foreign, size_t *count);

#endif
