/* Internal to the store: counting the updates that were skipped because their line belongs to
 * another account than the WABA id that they name. `switchboard doctor` shows these ids. */
#ifndef SWITCHBOARD_STORE_FOREIGN_WABA_H
#define SWITCHBOARD_STORE_FOREIGN_WABA_H

#include "engine/sql.h"

/* Counts a skipped update of the line at the time `now`, in ms, once the transaction ends; until
 * then the ids stay valid. In a payload with more of them than fit, an id that comes back later is
 * not counted again. False on failure. */
bool foreign_waba_count(struct store *store, const char *line_id, const char *waba_id, int64_t now);

#endif
