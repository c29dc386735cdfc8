/* Internal to store_ingest: the stored message that an update names. */
#ifndef SWITCHBOARD_STORE_STORED_MESSAGE_H
#define SWITCHBOARD_STORE_STORED_MESSAGE_H

#include "store/inbox/contact.h"
#include "store/ingest/ingest_update.h"

struct stored_message {
    char id[ID_SIZE]; /* "": none */
    char contact_id[ID_SIZE], thread_id[ID_SIZE];
    bool is_history; /* only a history update has mentioned it so far */
};

/* Finds the message of the update's line with this wamid. */
bool stored_message_find(struct ingest *in, const char *wamid, struct stored_message *message);

/* The same, and locks the contact of the message until the transaction ends, so that no other one
 * merges it and moves the message to another thread. */
bool stored_message_find_locked(struct ingest *in, const char *wamid,
                                struct stored_message *message, struct contact *contact);

#endif
