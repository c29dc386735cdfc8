/* The hours of the day in which a campaign sends. */
#ifndef SWITCHBOARD_API_CAMPAIGN_WINDOW_H
#define SWITCHBOARD_API_CAMPAIGN_WINDOW_H

#include "api/auth.h"
#include "store/campaign.h"

extern const struct field campaign_window_fields[];

/* Reads the member `window` of the request's body, whose fields are checked, into `*window`, as it
 * is stored; n == 0: there is none. */
int campaign_window_read(struct request *rq, struct slice *window);

/* Writes the spans of the campaign's next days from `start` on as store_change_campaign takes them;
 * NULL: it has no window. */
int campaign_window_times(struct request *rq, const struct store_campaign *campaign, int64_t start,
                          const char **times);

#endif
