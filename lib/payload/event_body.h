/* The body of an outbound event (spec 6): type, timestamp and data, as in Standard Webhooks. */
#ifndef SWITCHBOARD_EVENT_BODY_H
#define SWITCHBOARD_EVENT_BODY_H

#include "store/event.h"

/* Returns the JSON body of the event, in `arena`. The platform's objects are copied into it
 * unchanged. The event that tries a webhook of the kind forward is a POST of the platform without
 * entries. It is passed to the store calls that insert events. */
struct slice event_body(struct arena *arena, const struct store_event *event);

#endif
