/* Internal to the store: campaigns within the transactions of others. */
#ifndef SWITCHBOARD_STORE_CAMPAIGN_ROW_H
#define SWITCHBOARD_STORE_CAMPAIGN_ROW_H

#include "engine/sql.h"
#include "store/outgoing.h"

/* Pauses the running campaigns that the outcome of a row stops: its own, or all of its line. False
 * on failure. */
bool campaign_pause_by(struct store *store, const struct outgoing_outcome *outcome);

/* Pauses the running campaigns of a template that the platform has paused or disabled. False on
 * failure. */
struct stopped_template {
    const char *account_id, *name;
    const char *language; /* with an underscore */
    int64_t now;
    event_writer *write;
};
bool campaign_pause_template(struct store *store, const struct stopped_template *template);

#endif
