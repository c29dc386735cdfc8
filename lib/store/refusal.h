/* Payloads of the platform's that were rightly signed and are too large to be taken in one go, and
 * updates for lines of ours under the ids of accounts that are not theirs: kept for the operator.
 */
#ifndef SWITCHBOARD_STORE_REFUSAL_H
#define SWITCHBOARD_STORE_REFUSAL_H

#include "store/store.h"

struct store_refusal {
    const char *id, *reason;
    int64_t size;    /* bytes */
    int64_t updates; /* -1: it was not read so far */
    int64_t count;   /* how often it came */
    int64_t first_at, last_at;
    struct slice body; /* store_find_refusal only */
};

/* Keeps the payload, or counts one that is kept already. Those that last came 30 days ago make
 * room; STORE_FULL where there is none even so: 64 MiB or 1,000 payloads are kept. */
enum store_result store_add_refusal(struct store *store, const char *id, const char *reason,
                                    int64_t updates, struct slice body, int64_t now);

/* All, without their bodies, the newest first. */
enum store_result store_list_refusals(struct store *store, struct arena *arena,
                                      struct store_refusal **refusals, size_t *count);

/* STORE_NOT_FOUND where there is none with this id. */
enum store_result store_find_refusal(struct store *store, struct arena *arena, const char *id,
                                     struct store_refusal *refusal);
enum store_result store_remove_refusal(struct store *store, const char *id);

/* A line of ours, and the id of another account that updates for it came under. */
struct store_foreign {
    const char *phone_number_id, *own_waba_id, *waba_id;
    int64_t count, first_at, last_at;
};

/* Those whose last update came at `since` or later, the newest first. */
enum store_result store_list_foreign(struct store *store, struct arena *arena, int64_t since,
                                     struct store_foreign **foreign, size_t *count);

#endif
