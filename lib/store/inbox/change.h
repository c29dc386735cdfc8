/* Internal to the store: the numbers of changes. Each user counts the changes of its threads in
 * user.change_sequence. A write to a message, status, block or read mark gives its thread the next
 * number, and the message that it writes the same one, so that a reader finds what changed after a
 * number that it has seen. The user's row stays locked until the transaction ends: a number becomes
 * visible only after all lower ones. Every call runs in the open transaction and returns false on
 * failure. */
#ifndef SWITCHBOARD_STORE_CHANGE_H
#define SWITCHBOARD_STORE_CHANGE_H

#include "engine/sql.h"

/* Takes the user's next number. */
bool change_next(struct store *store, const char *user_id, int64_t *change);

/* Gives the thread of the line and the contact a next number, if there is one, after a block. */
bool change_thread_of(struct store *store, const char *user_id, const char *line_id,
                      const char *contact_id);

/* Gives each thread of the contact a next number, and has what waits in it counted again: after a
 * block, a merger or another change of the contact. Works in `arena`. */
bool change_contact(struct store *store, struct arena *arena, const char *contact_id);

#endif
