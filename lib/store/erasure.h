/* Erasure of a person: the contact, its identities, threads, messages and events, and what else
 * names it. It begins with a short transaction, after which nothing leads to the contact: a person
 * who writes again is a new contact. A resident process deletes the rest, in parts beside live
 * traffic; it can be killed at any point, and goes on where it was. */
#ifndef SWITCHBOARD_STORE_ERASURE_H
#define SWITCHBOARD_STORE_ERASURE_H

#include "store/event.h"

struct store_erasure {
    char contact_id[ID_SIZE];
    int64_t erased_at;
    int64_t ended_at; /* INT64_MAX: rows are left to delete */
};

/* Begins the erasure of the contact of the user, with user_id NULL of any user; also by the id of
 * one that was merged into it. Repeated, also after its end, it returns what the first call began.
 * `now`: ms. STORE_NOT_FOUND: there is and was no such contact. STORE_CONFLICT: it is on hold. */
enum store_result store_erase_contact(struct store *store, struct arena *arena, const char *user_id,
                                      const char *id, int64_t now, struct store_erasure *erasure);

/* Does a part of the erasures that have begun, of at most 200 rows, in one transaction, and adds
 * the event contact.erased with the last one; or deletes marks that are not needed any more. As
 * store_delete_old_rows (housekeeping.h): call again until `*done` is 0. */
enum store_result store_erase_part(struct store *store, event_writer *write, int64_t now,
                                   size_t *done);

/* Whether a send that was kept is that of a person who was erased after it: then it is not stored.
 */
enum store_result store_is_send_erased(struct store *store, struct arena *arena,
                                       const struct store_send *send, bool *is_erased);

/* --- internal to the store --- */

/* Whether a person with one of the identities, of which some may be NULL, is being erased, with all
 * that was made at `since`. False on failure too. */
bool erasing_has(struct store *store, struct arena *arena, const char *account_id, int64_t since,
                 const char *const *identities, size_t count);

#endif
