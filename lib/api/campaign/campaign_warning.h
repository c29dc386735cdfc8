/* What may keep a campaign from reaching all of its recipients, when it starts or goes on. */
#ifndef SWITCHBOARD_API_CAMPAIGN_WARNING_H
#define SWITCHBOARD_API_CAMPAIGN_WARNING_H

#include "api/auth.h"
#include "store/campaign.h"

/* Asks the platform for the limit and the quality of the campaign's line, and writes an array of
 * warnings for so many recipients to `*warnings`, also if it does not answer. Returns 0, or -1
 * after failing the request, because the line or its account cannot send. */
int campaign_warnings(struct request *rq, const struct store_campaign *campaign, int64_t recipients,
                      struct slice *warnings);

#endif
