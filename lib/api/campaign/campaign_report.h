/* GET /v2/campaigns/:campaignId/recipients.csv: what became of each recipient. */
#ifndef SWITCHBOARD_API_CAMPAIGN_REPORT_H
#define SWITCHBOARD_API_CAMPAIGN_REPORT_H

#include "api/auth.h"
#include "store/campaign.h"

/* Answers with a table, which is read and sent in parts. */
int campaign_report(struct request *rq, const struct store_campaign *campaign);

#endif
