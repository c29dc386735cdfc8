/* Internal to the store: campaigns within the transactions of others. */
#ifndef SWITCHBOARD_STORE_CAMPAIGN_ROW_H
#define SWITCHBOARD_STORE_CAMPAIGN_ROW_H

#include "engine/sql.h"
#include "store/outgoing.h"

/* Pauses the running campaigns that the outcome of a row stops: its own, or all of its line. False
 * on failure. */
bool campaign_pause_by(struct store *store, const struct outgoing_outcome *outcome);

/* Pauses the running campaigns of a template that the platform has paused or disabled; `language`
 * with an underscore. False on failure. */
bool campaign_pause_template(struct store *store, const char *account_id, const char *name,
                             const char *language);

#endif
