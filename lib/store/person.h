/* Internal to the store: the person that a payload is about, built from the contacts that turn out
 * to be the same person. Every call runs in the open transaction and returns false on failure.
 *
 *     person_find(...)     finds the contact that an identity leads to
 *     person_include(...)  merges a contact into the person
 *     person_insert(...)   inserts a contact when none was found
 *     person_update(...)   sets the person's identities and aliases
 */
#ifndef SWITCHBOARD_STORE_PERSON_H
#define SWITCHBOARD_STORE_PERSON_H

#include "store/contact.h"
#include "store/store_identity.h"

enum { MOST_IDENTITIES = 24 }; /* three for each of six contacts and of two persons in a payload */

struct person {
    struct store *store;
    struct arena *arena;
    const char *account_id;
    int64_t now;
    const char *reason;                      /* reason of a merge: contact_merge.reason */
    struct contact contact;                  /* the contact that remains; id NULL: none yet */
    const char *identities[MOST_IDENTITIES]; /* phones and BSUIDs that must lead to it */
    size_t identity_count;
};

/* The contact that an identity leads to. */
struct found {
    struct contact contact; /* id NULL: none */
    bool is_former;         /* found by an alias: not its current phone, BSUID or parent BSUID */
};

enum { PERSON_FOUND_AT_ONCE = 6 };

/* Finds the contacts that phones and BSUIDs lead to, and locks them until the transaction ends.
 * NULL leads to no contact. The arrays have `count` elements, at most PERSON_FOUND_AT_ONCE. */
bool person_find(struct person *person, const char *const *identities, size_t count,
                 struct found *found);

/* Merges the contact into the person; of two contacts the older one remains. Does nothing for a
 * contact with id NULL. */
bool person_include(struct person *person, const struct contact *contact);

/* Adds the phone, BSUID and parent BSUID of `who` to the identities that must lead to the person.
 */
void person_add_identities(struct person *person, const struct store_identity *who);

/* Inserts a contact with the id `new_id` and the identities of `who`. */
bool person_insert(struct person *person, const char *new_id, const struct store_identity *who);

/* Sets the person's phone and BSUID to those of `who`, NULL too, and its parent BSUID, username and
 * name where `who` has them. A contact that had the phone before loses it. Every other identity of
 * the person becomes an alias, unless it leads to another contact. `*is_changed`: the phone or the
 * BSUID changed, or an alias was added. */
bool person_update(struct person *person, const struct store_identity *who, bool *is_changed);

/* Removes the phone from the contact `from`, and its alias: the phone belongs to another person
 * now. `from` keeps its other identities. */
bool person_clear_phone(struct person *person, const struct contact *from, const char *phone);

/* Inserts the identities that the person had before a change into contact_merge. */
bool person_insert_change(struct person *person, const struct contact *before);

/* The first one that is not NULL. */
static inline const char *first_of(const char *a, const char *b) {
    return a ? a : b;
}

#endif
