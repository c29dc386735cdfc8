/* Sealed values, wherever they are stored: what rotating the keys must know. For the CLI. */
#ifndef SWITCHBOARD_STORE_SEALED_H
#define SWITCHBOARD_STORE_SEALED_H

#include "store/store.h"

struct store_sealed {
    const char *what;  /* in words, such as "platform access token of account" */
    const char *owner; /* the account's or user's id */
    const char *place; /* that it is sealed for (places.h) */
    struct slice value;
};

/* All of them. */
enum store_result store_list_sealed(struct store *store, struct arena *arena,
                                    struct store_sealed **values, size_t *count);

/* What to do with every value. All three are called with the write lock held, so that nobody stores
 * a value meanwhile and two rotations wait for each other. */
struct store_resealing {
    void *context;
    /* First. False: stop, nothing is changed. */
    bool (*begin)(void *context);
    /* The value to store instead; value->value itself: it stays. p == NULL: stop, nothing is
     * changed. */
    struct slice (*reseal)(void *context, const struct store_sealed *value);
    /* Before `changed` new values are committed. False: stop, nothing is changed. */
    bool (*end)(void *context, size_t changed);
};

/* Seals every value anew in one transaction. STORE_CONFLICT: one of the three functions said stop.
 */
enum store_result store_reseal(struct store *store, struct arena *arena,
                               const struct store_resealing *resealing, size_t *changed);

#endif
