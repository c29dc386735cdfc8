/* Internal to the store: finding, completing and merging contacts (spec 2.3, 6). Every call runs in
 * the open transaction and returns false on failure.
 *
 * A contact has at most one phone, one BSUID and one parent BSUID. Its former identities and other
 * spellings are aliases. An alias leads to its contact, but never becomes its current identity
 * again, so that the order in which payloads arrive does not matter.
 */
#ifndef SWITCHBOARD_STORE_IDENTITY_H
#define SWITCHBOARD_STORE_IDENTITY_H

#include "store/contact.h"
#include "store/store_identity.h"

/* Finds the account's contact with the identities of `who`, adds the identities that it lacks, and
 * merges contacts when one payload carries identities of several. Inserts a contact with the id
 * `new_id` when none is found; `new_id` NULL: inserts none. A phone that arrives with another BSUID
 * has been recycled: the phone moves to the other contact, the two contacts are not merged.
 * contact->id is NULL when no contact was found or inserted. */
bool identity_resolve(struct store *store, struct arena *arena, const char *account_id,
                      const struct store_identity *who, const char *new_id, int64_t now,
                      struct contact *contact);

/* The platform reports that `before` changed to `after`. */
struct identity_change {
    const struct store_identity *before, *after;
    const char *reason; /* user_id_update, number_change */
    int64_t at;         /* when the change happened, ms */
};

/* Merges the contacts with the identities of `before` and of `after`. The contact gets the
 * identities of `after`, unless a later change is known already. When there is no such contact,
 * inserts one with the id `new_id`, because messages from before the change may arrive later. */
bool identity_change(struct store *store, struct arena *arena, const char *account_id,
                     const struct identity_change *change, const char *new_id, int64_t now);

#endif
