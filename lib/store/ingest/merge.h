/* Internal to the store: contacts that turn out to be one person. Every call runs in the open
 * transaction, which has locked the contacts, and returns false on failure. */
#ifndef SWITCHBOARD_STORE_MERGE_H
#define SWITCHBOARD_STORE_MERGE_H

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

#endif
