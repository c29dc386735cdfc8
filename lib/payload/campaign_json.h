/* A campaign as answers and events show it, and the template of its messages. */
#ifndef SWITCHBOARD_CAMPAIGN_JSON_H
#define SWITCHBOARD_CAMPAIGN_JSON_H

#include "base/json.h"
#include "store/campaign.h"

/* Writes the members of the campaign, but for its counts, into the open object. */
void campaign_json_write(struct json_writer *out, const struct store_campaign *campaign,
                         int64_t now);

/* Writes its members `counts`, `delivery` and `errors`, and sorts the counts for that. */
void campaign_json_write_counts(struct json_writer *out, const struct store_campaign *campaign,
                                struct store_campaign_count *counts, size_t count);

/* Writes the members of the template object, as the platform takes it, with the components of one
 * recipient. */
void campaign_json_write_template(struct json_writer *out, const struct store_campaign *campaign,
                                  struct slice components);

#endif
