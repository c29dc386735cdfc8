/* Internal to store_ingest: inserting a message and its thread. */
#ifndef SWITCHBOARD_STORE_MESSAGE_ROW_H
#define SWITCHBOARD_STORE_MESSAGE_ROW_H

#include "store/ingest/ingest_update.h"

/* A message to insert. */
struct message_row {
    const char *id, *thread_id, *source, *status;
    const struct update_message *message;
    struct slice body;
    int64_t change;
    bool has_events; /* update_event_add_message follows */
};

/* Upserts the thread of a new message, and takes the number of the change, which `row` gets. */
bool message_row_add_thread(struct ingest *in, const char *contact_id, bool counts_as_unread,
                            struct message_row *row, char id[ID_SIZE]);

bool message_row_insert(struct ingest *in, const struct message_row *row);

#endif
