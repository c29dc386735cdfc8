/* Internal to store_ingest: the owners of the updates of a payload, and its locks. */
#ifndef SWITCHBOARD_STORE_UPDATE_OWNER_H
#define SWITCHBOARD_STORE_UPDATE_OWNER_H

#include "store/ingest/ingest_update.h"

/* Consecutive updates with the same owner: those before the index `end` that are in no run before.
 */
struct update_run {
    struct update_owner owner;
    size_t end;
};

/* Finds the owners of all updates: the line, or the account where an update names no line. user_id
 * stays NULL when there is no such line or account. Adds the runs to `runs`. False on failure. */
bool update_owner_find_all(struct ingest *in, const struct store_update *updates, size_t count,
                           struct buffer *runs);

/* Locks what the updates name before anything of it is read, account by account in the order of
 * their ids, so that payloads with the same names wait for each other in the same order. `runs` has
 * `count` elements. Resets `in->arena`. */
void update_lock_all(struct ingest *in, const struct store_update *updates,
                     const struct update_run *runs, size_t count);

#endif
