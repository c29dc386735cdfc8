/* An event by which a user tries the webhook. */
#ifndef SWITCHBOARD_STORE_EVENT_TEST_H
#define SWITCHBOARD_STORE_EVENT_TEST_H

#include "store/event.h"

#define TEST_EVENT_TYPE "ping"

/* Inserts an event of the type TEST_EVENT_TYPE into the user's outbox. It has a sequence like any
 * other event, so that the receiver sees no gap, and belongs to no contact, so that it waits for no
 * other event. `id` is the new event's id, evt_... STORE_CONFLICT: the user has no webhook. */
enum store_result store_insert_test_event(struct store *store, struct arena *arena,
                                          const char *user_id, const char *id, int64_t now,
                                          event_writer *write);

#endif
