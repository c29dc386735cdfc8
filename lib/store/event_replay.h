/* Delivering events again. A replayed event is pending and due, with all its attempts ahead,
 * whatever its state was; its id and body stay, so that the receiver can recognize it. An event
 * that is being delivered now is not changed. The event of a contact that was merged belongs to the
 * contact that remained, in the order of that contact's events. */
#ifndef SWITCHBOARD_STORE_EVENT_REPLAY_H
#define SWITCHBOARD_STORE_EVENT_REPLAY_H

#include "store/store.h"

enum { STORE_REPLAYED_AT_ONCE = 500 }; /* events of a transaction */

/* Replays one event; for the operator, `user_id` NULL, of any user. Of a user only an event that is
 * not pending is changed, so that its next attempt stays as it is. STORE_NOT_FOUND: no such event.
 * STORE_CONFLICT: its user has no webhook. */
enum store_result store_replay_event(struct store *store, const char *user_id, const char *id,
                                     int64_t now);

/* The same for the events of all users that were created from `since` on and before `until` (ms),
 * exist when the call begins, and have a user with a webhook. Uses transactions of at most
 * STORE_REPLAYED_AT_ONCE events. `*count` is the number of replayed events, on failure too: those
 * stay replayed. */
enum store_result store_replay_events(struct store *store, int64_t since, int64_t until,
                                      int64_t now, size_t *count);

/* Replays the oldest STORE_REPLAYED_AT_ONCE dead events of the user that were created from `since`
 * on. `*count` is their number; `*more`: there are others, which another call replays.
 * STORE_CONFLICT: the user has no webhook. */
enum store_result store_replay_dead_events(struct store *store, const char *user_id, int64_t since,
                                           int64_t now, size_t *count, bool *more);

#endif
