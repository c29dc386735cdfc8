/* Internal to the store: an event for all webhooks that want it, in the open transaction. */
#ifndef SWITCHBOARD_STORE_EVENT_ENTRY_H
#define SWITCHBOARD_STORE_EVENT_ENTRY_H

#include "store/event.h"
#include "store/event/webhook_match.h"

/* Whether one of the webhooks wants events of this type about this line (NULL: about none). */
bool event_entry_is_wanted(const struct webhook_list *webhooks, const char *type,
                           const char *line_id);

/* Inserts the event and a delivery for each of the webhooks that wants it; nothing if none does.
 * `order_key` NULL: it comes in no order. False on failure. */
bool event_entry_add(struct store *store, struct arena *arena, const struct webhook_list *webhooks,
                     struct store_event *event, const char *order_key, event_writer *write);

/* Sets waba_id and, with a line, phone_number_id of the event. False on failure. */
bool event_entry_read_owner(struct store *store, struct arena *arena, struct store_event *event);

#endif
