/* Internal to the store: moving all that a contact has, or some of its messages, to another one,
 * when contacts turn out to be one person, or two. Every call runs in the open transaction, which
 * has locked the contacts, and returns false on failure. */
#ifndef SWITCHBOARD_STORE_CONTACT_MOVE_H
#define SWITCHBOARD_STORE_CONTACT_MOVE_H

#include "store/inbox/contact_find.h"

struct merge {
    struct store *store;
    struct arena *arena;
    const char *account_id;
    int64_t now;
    const char *reason; /* contact_merge.reason */
};

/* Inserts a row into contact_merge, with the identities that the contact had before. merged_id
 * NULL: the contact was not merged, its identities changed. */
bool merge_insert(const struct merge *m, const struct contact *before, const char *merged_id,
                  const char *contact_id, const char *reason);

/* Moves all rows of the contact `gone` to the contact `kept`, and deletes `gone`. */
bool merge_contacts(const struct merge *m, const struct contact *gone, const char *kept);

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
