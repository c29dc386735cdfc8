/* Internal to the store: inserting the forwards of a POST in the open transaction. */
#ifndef SWITCHBOARD_STORE_FORWARD_ENTRY_H
#define SWITCHBOARD_STORE_FORWARD_ENTRY_H

#include "engine/row.h"
#include "store/forward.h"

/* On a server, starts to read what forward_insert reads first. The same run of the transaction
 * calls that too, unless the store fails. */
void forward_read_ahead(struct store *store, const struct store_post *post);

/* Inserts an event for each body that a webhook of the kind forward gets of the POST, with a
 * delivery for each webhook of the user that gets the same body. The POST is stored once for all
 * users. Does nothing when it is stored already, or no webhook gets anything of it. `webhooks` has
 * the lists that were read already (webhook_match_once). The caller has called forward_read_ahead.
 * Adds the number of events to `*events`.
 * Returns false when the store failed. Works in `arena`. */
bool forward_insert(struct store *store, struct arena *arena, const struct store_post *post,
                    struct buffer *webhooks, int64_t now, size_t *events);

#endif
