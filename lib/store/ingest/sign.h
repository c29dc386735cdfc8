/* Internal to the store: the signs of identities (grouping.h) as rows. Every call runs in the open
 * transaction and returns false on failure. */
#ifndef SWITCHBOARD_STORE_SIGN_H
#define SWITCHBOARD_STORE_SIGN_H

#include "store/contact.h"
#include "store/ingest/grouping.h"

/* The signs around some identities, with their contacts, which are locked. */
struct signs {
    struct store *store;
    struct arena *arena;
    const char *account_id;
    struct grouping grouping; /* its arrays belong to the buffers */
    struct buffer rows;       /* of struct sign */
    struct buffer changes;    /* of struct change_sign */
    struct contact *contacts;
    size_t contact_count;
    struct buffer leads; /* of struct name_lead */
};

/* The contact that an identity led to when the signs were read; NULL: to none. */
struct name_lead {
    const char *name, *contact_id;
};

/* Reads all signs, changes and contacts that are connected with the identities; NULL ones are
 * skipped. Of more than a thousand signs the rest is not read. */
bool signs_read(struct signs *signs, const char *const *identities, size_t count);

/* The same for the identities of the contact. */
bool signs_read_of(struct signs *signs, const char *contact_id);

/* Adds a sign, or extends the one that is known. Without a BSUID it is of the time between two
 * changes of the phone's owner. Sets *index. */
void signs_show(struct signs *signs, const struct contact *who, int64_t at, bool is_new,
                size_t *index);

/* Adds a change. Signs of its phones without a BSUID that are of the time before and after it are
 * divided. *is_known: the change is stored already. One that the operator has refused in another
 * form is refused. */
void signs_add_change(struct signs *signs, const struct change_sign *change, bool *is_known);

/* Writes the signs and changes that are new or changed. Each sign has its contact. */
bool signs_write(struct signs *signs);

/* Extends the time of a sign forwards, if it is stored. */
bool sign_extend(struct store *store, const char *account_id, const struct sign *sign, int64_t at);

#endif
