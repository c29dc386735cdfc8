/* Internal to the store: the event campaign.changed. */
#ifndef SWITCHBOARD_STORE_CAMPAIGN_EVENT_H
#define SWITCHBOARD_STORE_CAMPAIGN_EVENT_H

#include "engine/sql.h"
#include "store/event.h"

/* Adds the event that the campaign has changed. False on failure. */
bool campaign_event_add(struct store *store, const char *id, int64_t now, event_writer *write);

#endif
