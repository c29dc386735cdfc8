/* Blocks that an owner sets for a contact (spec 3): its lines must not send to it. */
#ifndef SWITCHBOARD_STORE_BLOCK_H
#define SWITCHBOARD_STORE_BLOCK_H

#include "store/store.h"

struct store_owner_block {
    const struct store_view *view;
    const char *contact_id;
    const char *phone_number_id; /* of a line of the contact's account; NULL: all of the view */
    int64_t now;
};

/* Block the contact of the view on lines of the view, or end the block. A repetition changes
 * nothing. `contact_id` is set to the contact's id, which differs when it was merged.
 * STORE_NOT_FOUND: no such contact. STORE_CONFLICT: its account has no such line in the view. Work
 * in `arena`. */
enum store_result store_block(struct store *store, struct arena *arena,
                              struct store_owner_block *block);
enum store_result store_unblock(struct store *store, struct arena *arena,
                                struct store_owner_block *block);

/* Finds the account's contact with one of these identities (a phone's digits, a BSUID); either may
 * be NULL. STORE_NOT_FOUND: there is none. */
enum store_result store_find_person(struct store *store, const char *account_id, const char *phone,
                                    const char *bsuid, char contact_id[ID_SIZE]);

#endif
