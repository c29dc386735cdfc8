/* Internal to the store: finding contacts by their identities. */
#ifndef SWITCHBOARD_STORE_CONTACT_FIND_H
#define SWITCHBOARD_STORE_CONTACT_FIND_H

#include "engine/row.h"
#include "store/contact.h"

/* Finds the account's contact with this identity (a phone's digits, a BSUID or a parent BSUID), by
 * its own columns or by an alias, and writes its id to `id`. False when there is none or on
 * failure. */
bool contact_find(struct store *store, const char *account_id, const char *identity,
                  char id[ID_SIZE]);

/* The same in two steps, for several identities at once: a server finds all in one round trip. Each
 * has a slot. */
enum { CONTACTS_SOUGHT_AT_ONCE = 6 };
void contact_start_find(struct store *store, size_t slot, const char *account_id,
                        const char *identity);
bool contact_read_found(struct store *store, size_t slot, char id[ID_SIZE]);

/* SQL: the identity leads to the row of the table contact. Arguments: the account, the identity. */
#define CONTACT_HAS(account, identity)                                                             \
    "(phone = " identity " OR bsuid = " identity " OR parent_bsuid = " identity                    \
    " OR EXISTS (SELECT 1 FROM contact_alias a WHERE a.account_id = " account                      \
    " AND a.identity = " identity " AND a.contact_id = contact.id))"

/* Locks a contact until the open transaction ends: meanwhile no other transaction merges the
 * contact or takes an identity from it. Another transaction may have done so before the lock was
 * free; then the identity that led to this contact leads to another contact now. So after the lock
 * the caller compares (CONTACT_HAS), and finds the contact again if the identity does not lead to
 * it. */
void contact_lock(struct store *store, const char *account_id, const char *id);

/* The same as contact_find, and locks the contact that is found. */
bool contact_find_locked(struct store *store, const char *account_id, const char *identity,
                         char id[ID_SIZE]);

/* Upserts an alias: `identity` leads to the contact too. */
bool contact_upsert_alias(struct store *store, const char *account_id, const char *identity,
                          const char *contact_id, int64_t now);

#endif
