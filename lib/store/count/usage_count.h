/* Internal to the store: counting usage within the open transaction, which writes the counts last.
 */
#ifndef SWITCHBOARD_STORE_COUNT_USAGE_COUNT_H
#define SWITCHBOARD_STORE_COUNT_USAGE_COUNT_H

#include "engine/sql.h"
#include "store/usage.h"

/* Counts a message of the line at this time, in ms; for USAGE_MEASURES nothing. False on failure.
 */
bool usage_count(struct store *store, const char *user_id, const char *line_id, int64_t now,
                 enum usage_measure measure);

#endif
