/* Internal to the store: inserting an event and its deliveries in the open transaction, and the
 * state of an event, which follows from its deliveries. */
#ifndef SWITCHBOARD_STORE_EVENT_ENTRY_H
#define SWITCHBOARD_STORE_EVENT_ENTRY_H

#include "store/event.h"
#include "store/event/webhook_match.h"

/* SQL: a table `waiting` of the webhooks that have pending deliveries, in the order of their ids,
 * then NULL. Each costs one search in the index delivery_due. */
#define WEBHOOKS_WAITING                                                                           \
    "WITH RECURSIVE waiting (webhook_id) AS ("                                                     \
    "SELECT min(webhook_id) FROM delivery WHERE state = 'pending' "                                \
    "UNION ALL SELECT (SELECT min(p.webhook_id) FROM delivery p "                                  \
    "  WHERE p.state = 'pending' AND p.webhook_id > waiting.webhook_id) "                          \
    "FROM waiting WHERE waiting.webhook_id IS NOT NULL) "

/* A body that is not stored with the event: that of a forward. */
struct outbox_post {
    const char *post_id, *parts; /* parts NULL: the whole POST */
};

/* Gives the event its user's next sequence and inserts it. Its body is made by `write`, or of
 * `post`, if that is not NULL. The caller inserts at least one delivery. */
bool outbox_add(struct store *store, struct arena *arena, struct store_event *event, const char *id,
                event_writer *write, const struct outbox_post *post);

/* Inserts the delivery of the event to a webhook, due at once. `order_key` NULL: it has no order.
 */
bool outbox_deliver(struct store *store, const struct store_event *event, const char *id,
                    const char *webhook_id, const char *order_key);

/* The same for those of the webhooks that want the event. */
bool outbox_deliver_all(struct store *store, const struct webhook_list *webhooks,
                        const struct store_event *event, const char *id, const char *order_key);

/* Whether one of the webhooks wants events of this type about this line (NULL: about none). */
bool event_entry_is_wanted(const struct webhook_list *webhooks, const char *type,
                           const char *line_id);

/* Inserts the event, with a new id, and the deliveries to those of the webhooks that want it;
 * nothing if none does. */
bool event_entry_add(struct store *store, struct arena *arena, const struct webhook_list *webhooks,
                     struct store_event *event, const char *order_key, event_writer *write);

/* Sets waba_id and, with a line, phone_number_id of the event. False also if there is no account.
 */
bool event_entry_read_owner(struct store *store, struct arena *arena, struct store_event *event);

/* Sorts the ids of events (const char *) in the buffer, and removes those that are there before.
 * Returns the number of those that are left. */
size_t outbox_distinct(struct buffer *ids);

/* Sets state, time of the end and has_error of the event from its deliveries, one of which changed.
 */
bool outbox_summarize(struct store *store, const char *event_id, int64_t now);

/* Cancels the pending deliveries to a webhook of the user, which was unset or deleted. Locks the
 * user's counters: transactions that read the webhook before have inserted their deliveries. */
bool outbox_cancel(struct store *store, const char *user_id, const char *webhook_id, int64_t now);

/* Makes the pending deliveries to a webhook due. */
bool outbox_make_due(struct store *store, const char *webhook_id, int64_t now);

#endif
