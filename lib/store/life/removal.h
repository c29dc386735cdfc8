/* Internal to the store: deleting messages, threads and contacts, with all that refers to them.
 * Every call runs in the open transaction, which has the locks of the contact, and returns false on
 * failure. */
#ifndef SWITCHBOARD_STORE_REMOVAL_H
#define SWITCHBOARD_STORE_REMOVAL_H

#include "engine/sql.h"

/* What identifies a contact: its phone and BSUIDs, those of former contacts too; each may be listed
 * more than once. In `arena`. */
bool removal_list_identities(struct store *store, struct arena *arena, const char *contact_id,
                             const char ***identities, size_t *count);

/* Adds the identities, and those that a change of identity links with them, to `names` (const char
 * *, in its arena). A transaction that deletes a contact locks all of them: of two contacts of one
 * change, deleted at the same time, the second one takes the change with it. */
bool removal_add_linked(struct store *store, const char *account_id, const char *const *identities,
                        size_t count, struct buffer *names);

/* Deletes the message, unless it is in another thread meanwhile. */
bool removal_delete_message(struct store *store, const char *account_id, const char *thread_id,
                            const char *id, const char *wamid);

/* Counts what is unread and what waits in the thread again, and reports that its messages before
 * this time are gone. */
bool removal_change_thread(struct store *store, const char *user_id, const char *id, int64_t before,
                           int64_t now);

/* Deletes a thread without messages, with its notes, and reports it. */
bool removal_delete_thread(struct store *store, const char *user_id, const char *id, int64_t now);

/* Deletes a contact without threads, and all that leads to it; of the changes of identity those
 * that name one of its `identities`, and otherwise nothing that another contact has. `arena` is for
 * the call alone. */
bool removal_delete_contact(struct store *store, struct arena *arena, const char *account_id,
                            const char *id, const char *const *identities, size_t count);

/* The same, but leaves the row of the contact, and its threads: nothing leads to it, and nothing in
 * it identifies a person. */
bool removal_clear_contact(struct store *store, struct arena *arena, const char *account_id,
                           const char *id, const char *const *identities, size_t count);

#endif
