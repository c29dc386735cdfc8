/* Internal to the store: moving some messages of a contact to another one. Every call runs in the
 * open transaction, which has locked both contacts, and returns false on failure. */
#ifndef SWITCHBOARD_STORE_MESSAGE_MOVE_H
#define SWITCHBOARD_STORE_MESSAGE_MOVE_H

#include "store/ingest/merge.h"

/* Messages that arrived with one identity: with the BSUID; or, where that is NULL, with the phone
 * alone at positions from `begin` to before `end` (grouping.h). A message that was sent by the API
 * has the time of its first status, by the platform's clock. */
struct message_filter {
    const char *phone, *bsuid;
    int64_t begin, end;
};

/* Whether the contact has such a message. */
bool message_exists(const struct merge *m, const char *contact_id,
                    const struct message_filter *filter, bool *exists);

/* Moves the messages from the threads of the contact `from` to those of the contact `to`. A thread
 * that has none left is deleted; its id leads to the other one. */
bool message_move(const struct merge *m, const char *from, const char *to,
                  const struct message_filter *filter);

#endif
