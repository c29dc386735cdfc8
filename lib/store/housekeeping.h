/* Housekeeping by a resident process: removal of old rows, repair of times, regular work of the
 * database. */
#ifndef SWITCHBOARD_STORE_HOUSEKEEPING_H
#define SWITCHBOARD_STORE_HOUSEKEEPING_H

#include "store/store.h"

/* Deletes at most 500 old rows in one transaction: events, with their deliveries, attempts and
 * POSTs, 7 days after they were delivered or cancelled and 30 days after they were given up; the
 * rows of deleted webhooks after their last delivery; idempotency keys after 24 hours; sessions,
 * login links and failures that have ended; the heartbeats of hosts that are silent for 7 days.
 * Without such rows the write lock is not taken. `*removed` is their number: call again until it is
 * 0. STORE_BUSY: another process does this work now; rows may be left, so call again later. */
enum store_result store_delete_old_rows(struct store *store, int64_t now, size_t *removed);

/* Repairs times that were written before the clock was set back, and that are further ahead than
 * possible: makes such pending deliveries due, and sets such times of webhooks to `now`. At most
 * 500 deliveries in one transaction; without such rows the write lock is not taken. `*mended` is
 * the number of changed rows: call again until it is 0. STORE_BUSY: as above. Works in `arena`. */
enum store_result store_repair_times(struct store *store, struct arena *arena, int64_t now,
                                     size_t *mended);

/* The regular work of the database itself, at the monotonic time `now` in ms; one resident process
 * calls it once a second. On SQLite it copies the write-ahead log into the database, so that the
 * next writer starts the log again at its beginning, and truncates the log's file when there were
 * no writes since the last time. On PostgreSQL it has the server make statistics of a table that
 * has grown to twice its size. STORE_BUSY: another connection was in the way; a later call does the
 * work. */
enum store_result store_tend(struct store *store, int64_t now);

#endif
