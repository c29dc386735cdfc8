/* Internal to store_ingest: inserting a message and its thread, and finding the stored message that
 * an update names. */
#ifndef SWITCHBOARD_STORE_MESSAGE_ROW_H
#define SWITCHBOARD_STORE_MESSAGE_ROW_H

#include "store/inbox/contact_find.h"
#include "store/inbox/thread.h"
#include "store/ingest/ingest_update.h"

/* A message to insert. */
struct message_row {
    const char *id, *thread_id, *source, *status;
    const struct update_message *message;
    struct slice body;
    int64_t change;
    bool has_events;  /* update_event_add_message follows */
    bool is_campaign; /* a campaign sent it */
};

/* Upserts the thread of a new message, and takes the number of the change, which `row` gets. */
bool message_row_add_thread(struct ingest *in, const char *contact_id, bool counts_as_unread,
                            struct message_row *row, char id[ID_SIZE]);

bool message_row_insert(struct ingest *in, const struct message_row *row);

/* Sets the number of the last change of a stored message, last (engine/tally.h). False on failure.
 */
bool message_row_change(struct store *store, const char *id, int64_t change);

/* A message that an update names. */
struct stored_message {
    char id[ID_SIZE]; /* "": none */
    char contact_id[ID_SIZE], thread_id[ID_SIZE];
    bool is_history; /* only a history update has mentioned it so far */
    bool is_erased;  /* with its contact: what is reported of it is skipped */
};

/* Finds the message of the update's line with this wamid. */
bool stored_message_find(struct ingest *in, const char *wamid, struct stored_message *message);

/* The same, and locks the contact of the message until the transaction ends, so that no other one
 * merges it and moves the message to another thread. */
bool stored_message_find_locked(struct ingest *in, const char *wamid,
                                struct stored_message *message, struct contact *contact);

#endif
