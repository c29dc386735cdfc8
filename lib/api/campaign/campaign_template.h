/* The template object of a campaign's messages, as the platform takes it. */
#ifndef SWITCHBOARD_API_CAMPAIGN_TEMPLATE_H
#define SWITCHBOARD_API_CAMPAIGN_TEMPLATE_H

#include "base/json.h"
#include "store/campaign.h"

/* Writes its members, with the components of one recipient. */
void campaign_write_template(struct json_writer *out, const struct store_campaign *campaign,
                             struct slice components);

#endif
