/* Internal to the store: the regular work, which one process does at a time. */
#ifndef SWITCHBOARD_STORE_CHORE_H
#define SWITCHBOARD_STORE_CHORE_H

#include "store/store.h"

/* Takes the lock of the regular work, within a transaction, without waiting. False: another process
 * does the work, and `*is_free` is false; or on failure. */
bool chore_take(struct store *store, bool *is_free);

/* The result of the transaction; STORE_BUSY if it did nothing because the lock was not free. */
enum store_result chore_result(struct store *store, bool is_free);

#endif
