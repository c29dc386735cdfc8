/* Inside of the store: adding an event in the transaction that is open. */
#ifndef SWITCHBOARD_STORE_OUTBOX_ENTRY_H
#define SWITCHBOARD_STORE_OUTBOX_ENTRY_H

#include "store/event.h"
#include "store/sqlite.h"

/* Gives the event the user's next sequence, has its body written and inserts it, due at once. */
bool outbox_add(struct store *store, struct arena *arena, struct store_event *event,
                const char *id, event_writer *write);

#endif
