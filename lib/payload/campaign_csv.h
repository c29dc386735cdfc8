/* What became of the recipients of a campaign, as comma-separated values (csv.h). */
#ifndef SWITCHBOARD_CAMPAIGN_CSV_H
#define SWITCHBOARD_CAMPAIGN_CSV_H

#include "payload/csv.h"
#include "store/campaign.h"

/* Adds the line with the names of the columns. */
void campaign_csv_head(struct buffer *lines);

/* Adds the line of a recipient. */
void campaign_csv_add(struct buffer *lines, const struct store_campaign_outcome *outcome);

#endif
