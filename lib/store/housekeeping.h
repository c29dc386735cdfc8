/* What a resident process does for the database: shows that it is alive, removes what is old, and
 * keeps the write-ahead log short. */
#ifndef SWITCHBOARD_STORE_HOUSEKEEPING_H
#define SWITCHBOARD_STORE_HOUSEKEEPING_H

#include <sys/types.h>

#include "store/store.h"

/* Makes later calls on this connection wait at most so long for a lock, in place of 5 s: a process
 * that has other things to do comes back later. */
enum store_result store_set_patience(struct store *store, int ms);

/* Notes that the resident process `name` is alive. */
enum store_result store_beat(struct store *store, const char *name, pid_t pid, int64_t now);

/* When the resident process `name` last did that; INT64_MIN: never. */
enum store_result store_find_beat(struct store *store, const char *name, int64_t *beat_at);

/* Removes at most 500 events that ended long ago, with their attempts, in one transaction: 7 days
 * after they were delivered or cancelled, 30 days after they were given up. Where there are none
 * the write lock is not taken. `*removed` is how many: call again until it is 0. */
enum store_result store_prune_events(struct store *store, int64_t now, size_t *removed);

/* Makes pending events due, and webhooks' times those of now, that lie further ahead than any
 * could: they were written by a clock that has been set back since. At most 500 events in one
 * transaction; where there is nothing to mend the write lock is not taken. `*mended` is how many
 * rows: call again until it is 0. Works in `arena`. */
enum store_result store_mend_times(struct store *store, struct arena *arena, int64_t now,
                                   size_t *mended);

/* A number that changes when another connection has committed; -1 on failure. */
int64_t store_data_version(struct store *store);

/* Moves the write-ahead log into the database, so that the next writer begins it anew; with
 * `cuts_log` its file is emptied too. Under load it is better kept: to write over a file is cheaper
 * than to make it longer at every commit. Only ever with the writer's lock held (RESTART,
 * TRUNCATE), so that no commit overlaps: SQLite before 3.51.3 may lose frames otherwise.
 * STORE_BUSY: somebody reads or writes; try later. */
enum store_result store_checkpoint(struct store *store, bool cuts_log);

#endif
