/* Inside of the store: contacts that learn, change and merge (spec 2.3, 6). Every call runs in the
 * transaction that is open and returns false when it failed. */
#ifndef SWITCHBOARD_STORE_IDENTITY_H
#define SWITCHBOARD_STORE_IDENTITY_H

#include "store/inbound.h"
#include "store/sqlite.h"

struct contact {
    const char *id; /* NULL: there is none */
    const char *phone, *bsuid, *parent_bsuid, *username, *name;
    int64_t created_at;
};

/* The contact with this id. */
bool contact_read(struct store *store, struct arena *arena, const char *id,
                  struct contact *contact);

/* The one contact of the account that `who` is: found, told what it did not know, merged where one
 * payload carries both a phone and a BSUID that were two contacts, made with `new_id` when nobody
 * goes by it. A phone that now comes with another BSUID has been recycled: it moves, the people do
 * not. contact->id is NULL when `who` names nobody. */
bool identity_resolve(struct store *store, struct arena *arena, const char *account_id,
                      const struct store_identity *who, const char *new_id, int64_t now,
                      struct contact *contact);

/* The platform says that `before` is now `after`: both end as one contact that goes by `after`.
 * contact->id is NULL when neither is known. */
bool identity_change(struct store *store, struct arena *arena, const char *account_id,
                     const struct store_identity *before, const struct store_identity *after,
                     const char *reason, int64_t now, struct contact *contact);

#endif
