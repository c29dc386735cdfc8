/* The deliveries of an event as JSON: in the API and in the output of the admin CLI. */
#ifndef SWITCHBOARD_DELIVERY_JSON_H
#define SWITCHBOARD_DELIVERY_JSON_H

#include "base/json.h"
#include "store/event_log.h"

/* Writes the member `webhooks`: the state of the delivery to each webhook. */
void delivery_json_write(struct json_writer *out, const struct store_event_entry *event);

#endif
