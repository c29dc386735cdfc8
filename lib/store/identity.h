/* Inside of the store: contacts that learn, change and merge (spec 2.3, 6). Every call runs in the
 * transaction that is open and returns false when it failed.
 *
 * A contact has at most one phone, one BSUID and one parent BSUID. What it went by before, and
 * other spellings, are aliases: they go on leading to it, but never become its shown identity
 * again, so that the order in which the platform tells things does not matter.
 */
#ifndef SWITCHBOARD_STORE_IDENTITY_H
#define SWITCHBOARD_STORE_IDENTITY_H

#include "store/contact.h"
#include "store/store_identity.h"

/* The one contact of the account that `who` is: found, told what it did not know, merged where one
 * payload carries names that were several contacts', made with `new_id` when nobody goes by it
 * (`new_id` NULL: nobody is made). A phone that now comes with another BSUID has been recycled: it
 * moves, the people do not. contact->id is NULL when `who` is nobody. */
bool identity_resolve(struct store *store, struct arena *arena, const char *account_id,
                      const struct store_identity *who, const char *new_id, int64_t now,
                      struct contact *contact);

/* The platform says that `before` is now `after`. */
struct identity_change {
    const struct store_identity *before, *after;
    const char *reason; /* user_id_update, number_change */
    int64_t at;         /* when it happened, ms */
};

/* Makes all who went by either one contact. It goes by `after`, unless it is known to have changed
 * again since; it is made with `new_id` when nobody went by either, for messages that were sent
 * before the change may be yet to come. */
bool identity_change(struct store *store, struct arena *arena, const char *account_id,
                     const struct identity_change *change, const char *new_id, int64_t now);

#endif
