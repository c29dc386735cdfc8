/* The files of `pending_dir` (kept_record.h): the courier of the host stores their records, oldest
 * first, and removes each file after the commit. A record may be stored twice: that changes
 * nothing. */
#ifndef SWITCHBOARD_DELIVERY_KEPT_RECORDS_H
#define SWITCHBOARD_DELIVERY_KEPT_RECORDS_H

#include "store/store.h"

/* Stores records until none is left or clock_monotonic reaches `until`. A record that cannot be
 * stored, because the file is damaged or the database refuses it, is set aside under another name
 * (KEPT_REFUSED), and the next one is taken. One that fails for another reason stays, and `*left`
 * is set. Returns the failure of the database that ended the work, or STORE_OK. */
enum store_result kept_store(const char *directory, struct store *store, int64_t until, bool *left);

#endif
