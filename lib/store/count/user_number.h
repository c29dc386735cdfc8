/* Internal to the store: the numbers that a user's row counts: the sequences of its events and
 * forwards, and its changes. The first one that a transaction takes locks the row until the
 * transaction ends; the others are counted in memory, and written last (engine/tally.h). */
#ifndef SWITCHBOARD_STORE_COUNT_USER_NUMBER_H
#define SWITCHBOARD_STORE_COUNT_USER_NUMBER_H

#include "base/id.h"
#include "engine/row.h"

enum user_number { NUMBER_EVENT, NUMBER_FORWARD, NUMBER_CHANGE, USER_NUMBERS };

/* On a server, starts to lock and read the numbers of the user, whose first one is taken soon. */
void user_number_read_ahead(struct store *store, const char *user_id);

/* Whether the transaction has taken a number of this user, or reads ahead: then its row is locked,
 * or will be with the next statement. */
bool user_number_is_locked(const char *user_id);

/* Takes the user's next number. Returns false on failure. */
bool user_number_next(struct store *store, const char *user_id, enum user_number kind,
                      int64_t *number);

#endif
