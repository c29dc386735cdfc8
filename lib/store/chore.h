/* Internal to the store: the regular work, which one process does at a time. */
#ifndef SWITCHBOARD_STORE_CHORE_H
#define SWITCHBOARD_STORE_CHORE_H

#include "store/store.h"

/* Takes the lock of the regular work, within a transaction, without waiting. False: another process
 * does the work, and `*is_free` is false; or on failure. */
bool chore_take(struct store *store, bool *is_free);

/* The result of the transaction; STORE_BUSY if it did nothing because the lock was not free. */
enum store_result chore_result(struct store *store, bool is_free);

struct parameter;
struct statement;

/* A part of the regular work that one statement does. */
struct chore {
    struct statement *find;             /* returns a row if there is something to do */
    struct statement *change;           /* changes a limited number of rows */
    const struct parameter *parameters; /* of `change`; those of `find` are the first of them */
    size_t find_count, change_count;
};

/* Does it in one transaction, and sets how many rows it changed. Without anything to do it takes no
 * lock for writing. STORE_BUSY: as chore_result. */
enum store_result chore_do(struct store *store, const struct chore *chore, size_t *changed);

#endif
