/* Inside of the store: contacts by identity. */
#ifndef SWITCHBOARD_STORE_CONTACT_H
#define SWITCHBOARD_STORE_CONTACT_H

#include "store/sqlite.h"

struct contact {
    const char *id; /* NULL: there is none */
    const char *phone, *bsuid, *parent_bsuid, *username, *name;
    int64_t created_at;
};

/* The contact with this id. */
bool contact_read(struct store *store, struct arena *arena, const char *id,
                  struct contact *contact);

/* The id of the account's contact that goes by the identity (digits or a BSUID), by itself or by an
 * alias; written to `id`. False when there is none or on failure. */
bool contact_find(struct store *store, const char *account_id, const char *identity,
                  char id[ID_SIZE]);

/* The thread of line and contact, made when there is none; `now` becomes its last message's time
 * when it is later. `new_id` is used for a new one; the id is written to `id`. */
bool thread_touch(struct store *store, const char *line_id, const char *contact_id,
                  const char *new_id, int64_t now, char id[ID_SIZE]);

/* Notes that `identity` leads to the contact too. */
bool contact_add_alias(struct store *store, const char *account_id, const char *identity,
                       const char *contact_id, int64_t now);

#endif
