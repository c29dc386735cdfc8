/* Internal to the store: the numbers of changes that a transaction gives to messages, collected in
 * memory and written once, with the last one or when the tally has no room. A server keeps each
 * version of a row that a transaction writes, and every later access in it reads them all. A
 * message's number only grows, so the order of the writes does not matter. */
#ifndef SWITCHBOARD_STORE_MESSAGE_TALLY_H
#define SWITCHBOARD_STORE_MESSAGE_TALLY_H

#include "engine/sql.h"

enum { MESSAGES_COLLECTED = 64 };

/* Zeroed at the start. A transaction that rolls back to a savepoint restores the copy that it made
 * when it set the savepoint. */
struct message_tally {
    size_t count; /* of the messages in `list` */
    struct message_change {
        char id[ID_SIZE]; /* "": none */
        int64_t change;
    } list[MESSAGES_COLLECTED]; /* a message's place follows from its id */
};

/* Collects the changes of the open transaction in `tally`, which is of the caller; NULL ends it. */
void message_tally_collect(struct store *store, struct message_tally *tally);

/* Sets the number of the last change of a stored message; at once if nothing is collected. False on
 * failure. */
bool message_tally_change(struct store *store, const char *id, int64_t change);

/* Writes what is collected, before the transaction ends. False on failure. */
bool message_tally_write(struct store *store);

#endif
