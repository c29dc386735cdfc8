/* The JSON of an event, as its user sees it. */
#ifndef SWITCHBOARD_API_EVENT_VIEW_H
#define SWITCHBOARD_API_EVENT_VIEW_H

#include "store/event_log.h"
#include "web/request.h"

/* Writes the members of the event into the open object. */
void event_view_write(struct json_writer *out, const struct store_event_entry *event);

/* Answers with the event, its body and the attempts to deliver it. Returns 0. */
int event_view_reply(struct request *rq, const struct store_event_entry *event);

#endif
