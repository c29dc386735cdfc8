/* All sealed values of the database, for the rotation of keys by the CLI. */
#ifndef SWITCHBOARD_STORE_SEALED_H
#define SWITCHBOARD_STORE_SEALED_H

#include "store/store.h"

struct store_sealed {
    const char *what;         /* description, such as "platform access token of account" */
    const char *owner;        /* the account's or user's id */
    const char *row;          /* the id of the account, webhook or request */
    const char *seal_context; /* with which it is sealed (seal_context.h) */
    struct slice value;
};

/* Lists all sealed values; they are in `arena`. */
enum store_result store_list_sealed(struct store *store, struct arena *arena,
                                    struct store_sealed **values, size_t *count);

/* The functions that seal the values again. They are called with the write lock held, so that no
 * other process stores a value meanwhile and a second rotation waits. */
struct store_resealing {
    void *context;
    /* Called first. False: stop, nothing is changed. */
    bool (*begin)(void *context);
    /* Returns the new value; value->value: it is unchanged. p == NULL: stop, nothing is changed. */
    struct slice (*reseal)(void *context, const struct store_sealed *value);
    /* Called before `changed` new values are committed. False: stop, nothing is changed. */
    bool (*end)(void *context, size_t changed);
};

/* Seals every value again in one transaction. `*changed`: the number of values that differ.
 * STORE_CONFLICT: one of the three functions stopped it. */
enum store_result store_reseal(struct store *store, struct arena *arena,
                               const struct store_resealing *resealing, size_t *changed);

#endif
