/* Internal to the store: counting the updates that were skipped because their line belongs to
 * another account than the WABA id that they name. `switchboard doctor` shows these ids. The counts
 * are collected in memory and written at the end of the payload, once for each line and WABA id. */
#ifndef SWITCHBOARD_STORE_FOREIGN_WABA_H
#define SWITCHBOARD_STORE_FOREIGN_WABA_H

#include "engine/sql.h"

enum { MOST_FOREIGN = 64 }; /* lines and WABA ids that are counted together */

struct foreign_tally {
    int64_t now;
    size_t count;
    struct foreign {
        const char *line_id, *waba_id; /* a line, and the WABA id of another account */
        int64_t count;                 /* of skipped updates */
    } list[MOST_FOREIGN];
};

/* Counts a skipped update. The ids stay valid until the tally is written. In a payload with more of
 * them than fit, an id that comes back later is not counted again. False on failure. */
bool foreign_waba_count(struct store *store, struct foreign_tally *tally, const char *line_id,
                        const char *waba_id);

/* Writes the counts and empties the tally; false on failure. */
bool foreign_waba_write(struct store *store, struct foreign_tally *tally);

#endif
