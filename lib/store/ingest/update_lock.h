/* Internal to store_ingest: the locks of a payload. */
#ifndef SWITCHBOARD_STORE_UPDATE_LOCK_H
#define SWITCHBOARD_STORE_UPDATE_LOCK_H

#include "store/ingest/update_owner.h"

/* Locks what the updates name before anything of it is read, account by account in the order of
 * their ids, so that payloads with the same names wait for each other in the same order. `runs` has
 * `count` elements. Resets `in->arena`. */
void update_lock_all(struct ingest *in, const struct store_update *updates,
                     const struct update_run *runs, size_t count);

#endif
