/* Internal to store_ingest: the events that updates cause. */
#ifndef SWITCHBOARD_STORE_UPDATE_EVENT_H
#define SWITCHBOARD_STORE_UPDATE_EVENT_H

#include "store/inbox/contact_find.h"
#include "store/ingest/ingest_update.h"

/* On a server, starts to read what the events of a message from this contact depend on: with what
 * else was started before. The contact is locked. update_event_add_message follows, unless the
 * store fails. */
bool update_event_read_ahead(struct ingest *in, const char *contact_id);

/* Whether a message causes events. */
bool update_event_is_wanted(const struct ingest *in, const struct store_update *update);

/* Adds an event, unless no webhook wants it. */
bool update_event_add(struct ingest *in, struct store_event *event, const struct contact *contact,
                      const char *thread_id);

/* Inserts the contact as a lead from this source; *is_first: it was none before. */
bool update_event_insert_lead(struct ingest *in, const char *contact_id, const char *source,
                              bool *is_first);

/* Inserts the lead from the event's source, and the event lead.created once per contact and source.
 * Without a configured webhook only the lead is inserted. */
bool update_event_add_lead(struct ingest *in, struct store_event *event,
                           const struct contact *contact, const char *thread_id);

/* Adds the events of a message that is new: that it was received, and those of its leads. */
bool update_event_add_message(struct ingest *in, const struct store_update *update,
                              const struct contact *contact, const char *thread_id);

#endif
