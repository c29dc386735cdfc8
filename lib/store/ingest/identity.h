/* Internal to the store: finding, completing and merging contacts (spec 2.3, 6). Every call runs in
 * the open transaction and returns false on failure.
 *
 * What the platform shows of a person is kept with the platform's timestamps (grouping.h). The
 * contacts follow from it, whatever the order of arrival: a late payload is of the person who had
 * its phone then, and takes nothing from the present owner.
 */
#ifndef SWITCHBOARD_STORE_IDENTITY_H
#define SWITCHBOARD_STORE_IDENTITY_H

#include "store/contact.h"
#include "store/inbox/contact_find.h"

/* An occasion on which the platform showed a person. */
struct occasion {
    struct store *store;
    struct arena *arena;
    const char *account_id;
    int64_t at;         /* the platform's timestamp, ms */
    int64_t now;        /* the gateway's clock: for ids and rows */
    const char *new_id; /* of a contact if there is none; NULL: none is inserted */
    bool is_read_ahead; /* set by identity_read_ahead */
};

/* On a server, starts to read what identity_resolve reads first; the caller reads something else
 * before it calls that, or never calls it. */
void identity_read_ahead(struct occasion *occasion, const struct contact *who);

/* Finds the account's contact with the identities of `who`, adds the identities that it lacks, and
 * merges or divides contacts where the payload shows that they are one person or two. A contact
 * that had the phone before keeps it if it was shown with it later. contact->id is NULL when no
 * contact was found or inserted. */
bool identity_resolve(const struct occasion *occasion, const struct contact *who,
                      struct contact *contact);

/* The platform reports that `before` changed to `after`. `reason`: user_id_update, number_change.
 * When there is no contact with one of the identities, inserts one, because messages from before
 * the change may arrive later. */
bool identity_change(const struct occasion *occasion, const struct contact *before,
                     const struct contact *after, const char *reason);

#endif
