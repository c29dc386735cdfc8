/* An event by which a user tries a webhook. */
#ifndef SWITCHBOARD_STORE_EVENT_TEST_H
#define SWITCHBOARD_STORE_EVENT_TEST_H

#include "store/event.h"

#define TEST_EVENT_TYPE "ping"

/* Inserts an event of the type TEST_EVENT_TYPE for the user's webhook, NULL: the first one. It has
 * a sequence like any other event, so that the receiver sees no gap, and belongs to no contact, so
 * that it waits for no other event. `id` is the new event's id, evt_... `write` makes its body, for
 * a webhook of the kind forward too (`is_forward`). STORE_NOT_FOUND: the user has no such webhook.
 * STORE_CONFLICT: it has no URL or code, it is named and paused, or there is no first webhook. */
enum store_result store_insert_test_event(struct store *store, struct arena *arena,
                                          const char *user_id, const char *webhook_id,
                                          const char *id, int64_t now, event_writer *write);

#endif
