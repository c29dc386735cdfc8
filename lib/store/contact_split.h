/* Undoing a wrong merge: the operator says that a reported change of identity joined two people. */
#ifndef SWITCHBOARD_STORE_CONTACT_SPLIT_H
#define SWITCHBOARD_STORE_CONTACT_SPLIT_H

#include "store/store.h"

/* A reported change that led to an identity: the identity before it. */
struct store_reported_change {
    int64_t at;                /* the platform's timestamp, ms */
    const char *phone, *bsuid; /* NULL: the report has none */
    bool is_refused;
};

/* An identity of a contact, as the platform showed it. */
struct store_shown_identity {
    const char *phone, *bsuid; /* NULL: it was shown without */
    int64_t first_at, last_at; /* the platform's timestamps, ms */
    const struct store_reported_change *changes;
    size_t change_count;
};

struct store_contact_split {
    const char *contact_id; /* also the id of a contact that was merged */
    const char *identity;   /* a phone's digits or a BSUID, of another person; NULL: only list */
    int64_t now;
    /* set by the call: */
    const char *remaining_id; /* the contact that remained, if contact_id was merged */
    const char *other_id;     /* the contact that has the identity; NULL: no identity was given */
    size_t refused;           /* changes that are refused by this call; 0: it was split before */
    const struct store_shown_identity *identities; /* of the contact before the call */
    size_t identity_count;
};

/* Divides the identity, with what follows from it, from the others of the contact, for good
 * (contact_split.c). A second call changes nothing. STORE_NOT_FOUND: there is no such contact.
 * STORE_CONFLICT: the identity cannot be divided from the contact, store_reason says why. Works in
 * `arena`. */
enum store_result store_split_contact(struct store *store, struct arena *arena,
                                      struct store_contact_split *split);

#endif
