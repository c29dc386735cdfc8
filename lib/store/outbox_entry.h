/* Internal to the store: inserting an event in the open transaction. */
#ifndef SWITCHBOARD_STORE_OUTBOX_ENTRY_H
#define SWITCHBOARD_STORE_OUTBOX_ENTRY_H

#include "store/event.h"
#include "store/sql.h"

/* Whether the user's events can be delivered: URL and code of the webhook are set. */
bool outbox_has_target(struct store *store, const char *user_id);

/* Gives the event its user's next sequence, makes its body with `write` and inserts it, due at
 * once. Does nothing when an event with this id is stored. */
bool outbox_add(struct store *store, struct arena *arena, struct store_event *event, const char *id,
                event_writer *write);

#endif
