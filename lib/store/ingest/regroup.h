/* Internal to the store: contacts that follow from the signs of identities (grouping.h). Every call
 * runs in the open transaction and returns false on failure. */
#ifndef SWITCHBOARD_STORE_REGROUP_H
#define SWITCHBOARD_STORE_REGROUP_H

#include "store/contact.h"
#include "store/ingest/contact_move.h"
#include "store/ingest/sign.h"

struct regroup {
    struct merge merge;
    struct signs signs;
    const char *new_id;           /* of a contact for the sign `own`, if it needs a new one */
    size_t own;                   /* the sign of the payload, then of its person; NO_SIGN: none */
    const struct contact *who;    /* its profile; NULL: none */
    int64_t at;                   /* its time */
    const struct contact *before; /* of a change: what it names; NULL: no change */
    struct member *members;       /* set by regroup_apply */
    size_t member_count;
    const char **targets; /* the contact of each sign: set by regroup_apply */
};

/* A contact, as it is stored and as it becomes. */
struct member {
    struct contact is, wanted;
    size_t group;     /* NO_SIGN: it has none */
    const char *into; /* the contact that it is merged into; NULL: it remains */
    bool is_made;     /* it is new */
};

/* Finds which signs are of one person. The work counts towards the limit of the transaction. */
bool regroup_group(struct regroup *r);

/* The signs are grouped. Finds the contact of each sign, makes new ones, merges contacts whose
 * signs are of one person, moves the messages of signs that are of another person than their
 * contact, and writes the present identities. contact->id is NULL if `own` is NO_SIGN. */
bool regroup_apply(struct regroup *r, struct contact *contact);

#endif
