/* Internal to the store: campaigns within the transactions of others. */
#ifndef SWITCHBOARD_STORE_CAMPAIGN_ROW_H
#define SWITCHBOARD_STORE_CAMPAIGN_ROW_H

#include "engine/sql.h"
#include "store/outgoing.h"

/* Pauses the running campaigns that the outcome of a row stops: its own, or all of its line. False
 * on failure. */
bool campaign_pause_by(struct store *store, const struct outgoing_outcome *outcome);

#endif
