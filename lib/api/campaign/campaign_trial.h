/* POST /v2/campaigns/:campaignId/test: the message of a campaign to one person, who is none of its
 * recipients thereby. */
#ifndef SWITCHBOARD_API_CAMPAIGN_TRIAL_H
#define SWITCHBOARD_API_CAMPAIGN_TRIAL_H

#include "api/auth.h"
#include "store/campaign.h"

extern const struct field campaign_trial_fields[];

/* Sends it with the variables of the body, or those of the first recipient, and answers as other
 * sends. */
int campaign_trial(struct request *rq, const struct store_campaign *campaign);

#endif
