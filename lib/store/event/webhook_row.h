/* Internal to the store: changing one webhook in the open transaction. */
#ifndef SWITCHBOARD_STORE_WEBHOOK_ROW_H
#define SWITCHBOARD_STORE_WEBHOOK_ROW_H

#include "engine/sql.h"

enum { WEBHOOK_CODE_OVERLAP_MS = 24 * 60 * 60 * 1000 }; /* how long a replaced code still signs */

/* Locks what a change of one of the user's webhooks needs, at the begin of the transaction; the
 * delivery of events reads it. `code` NULL: none is sealed. False on failure. */
bool webhook_lock(struct store *store, const char *user_id, const struct store_secret *code);

/* Finds the user's first webhook; false when there is none, or on failure. */
bool webhook_find_first(struct store *store, const char *user_id, char id[ID_SIZE]);

/* The same, but inserts one without URL and code when there is none. */
bool webhook_ensure_first(struct store *store, const char *user_id, int64_t now, char id[ID_SIZE]);

/* Sets the code; the former code still signs for a while. A repetition of the call finds its own
 * value: that replaces nothing. */
bool webhook_replace_code(struct store *store, const char *id, const struct store_secret *code,
                          int64_t now);

/* Sets the URL, ends the suspension and makes the pending deliveries due. */
bool webhook_set_url(struct store *store, const char *id, const char *url, int64_t now);

#endif
