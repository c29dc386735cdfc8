/* PUT /v2/campaigns/:campaignId/recipients: a table of people, as it arrives, or a JSON array. */
#ifndef SWITCHBOARD_API_CAMPAIGN_IMPORT_H
#define SWITCHBOARD_API_CAMPAIGN_IMPORT_H

#include "api/auth.h"
#include "store/campaign.h"

extern const struct field campaign_import_query[];

/* Reads the body, adds its lines or objects to the campaign, and answers with their numbers. */
int campaign_import(struct request *rq, const struct store_campaign *campaign);

#endif
