/* What an outbound event looks like (spec 6): Standard Webhooks' type, timestamp and data. */
#ifndef SWITCHBOARD_EVENT_H
#define SWITCHBOARD_EVENT_H

#include "store/event.h"

/* The body of the event, for store calls that add events. The platform's objects are spliced in
 * unchanged. */
struct slice event_body(struct arena *arena, const struct store_event *event);

#endif
