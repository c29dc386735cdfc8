/* Internal to the store: erasures that have not ended. */
#ifndef SWITCHBOARD_STORE_ERASING_H
#define SWITCHBOARD_STORE_ERASING_H

#include "store/store.h"

/* Whether a person with one of the identities, of which some may be NULL, is being erased, with all
 * that was made at `since`. False on failure too. */
bool erasing_has(struct store *store, struct arena *arena, const char *account_id, int64_t since,
                 const char *const *identities, size_t count);

#endif
