/* Delivering events again. Replayed are the deliveries to the webhooks that the event had and that
 * exist and have a URL and a code. A replayed delivery is pending and due, with all its attempts
 * ahead, whatever its state was; the event's id and body stay, so that the receiver can recognize
 * it. A delivery that is made now is not changed. The event of a contact that was merged belongs to
 * the contact that remained, in the order of that contact's events. An event whose webhooks are all
 * deleted gets deliveries to those that want it now, unless it is a forward. */
#ifndef SWITCHBOARD_STORE_EVENT_REPLAY_H
#define SWITCHBOARD_STORE_EVENT_REPLAY_H

#include "store/store.h"

enum { STORE_REPLAYED_AT_ONCE = 500 }; /* events of a transaction */

/* Replays one event; for the operator, `user_id` NULL, of any user. Of a user a delivery that is
 * pending keeps its attempts, and is due now. STORE_NOT_FOUND: no such event. STORE_CONFLICT: there
 * is no webhook that it could be delivered to. */
enum store_result store_replay_event(struct store *store, const char *user_id, const char *id,
                                     int64_t now);

/* The same for the events of all users that were created from `since` on and before `until` (ms),
 * exist when the call begins, and have such a webhook. Uses transactions of at most
 * STORE_REPLAYED_AT_ONCE events. `*count` is the number of replayed events, on failure too: those
 * stay replayed. */
enum store_result store_replay_events(struct store *store, int64_t since, int64_t until,
                                      int64_t now, size_t *count);

/* Replays dead deliveries of the user, of events that were created from `since` on, and with
 * `retrying` makes those due that wait for their next attempt: at most STORE_REPLAYED_AT_ONCE,
 * webhook by webhook, the oldest first. `*count` is the number of their events; `*more`: there are
 * others, which another call replays. STORE_CONFLICT: the user has no webhook with URL and code. */
enum store_result store_replay_failed_events(struct store *store, const char *user_id,
                                             int64_t since, bool retrying, int64_t now,
                                             size_t *count, bool *more);

#endif
