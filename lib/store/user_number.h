/* Internal to the store: the numbers that a user's row counts: the sequences of its events and
 * forwards, and its changes. Taking one updates the row, which stays locked until the transaction
 * ends. A transaction that takes many collects them: the first one locks and reads the row, the
 * others are counted in memory, and the last ones are written at the end. A server keeps each
 * version of a row that a transaction writes, and every later access in it reads them all. */
#ifndef SWITCHBOARD_STORE_USER_NUMBER_H
#define SWITCHBOARD_STORE_USER_NUMBER_H

#include "base/id.h"
#include "engine/sql.h"

enum user_number { NUMBER_EVENT, NUMBER_FORWARD, NUMBER_CHANGE, USER_NUMBERS };

/* The collected numbers of one user. Zeroed at the start. A transaction that rolls back to a
 * savepoint restores the copy that it made when it set the savepoint. */
struct user_numbers {
    char user_id[ID_SIZE]; /* "": none yet */
    int64_t last[USER_NUMBERS];
    bool is_read;    /* false: reading them was started */
    bool is_changed; /* since they were read or written */
};

/* Collects the numbers of the open transaction in `numbers`, which are of the caller. */
void user_number_collect(struct store *store, struct user_numbers *numbers);

/* Ends the collection. Writes the last numbers, unless the store failed. */
bool user_number_write(struct store *store);

/* On a server, starts to lock and read the collected numbers of the user, whose first one is taken
 * soon. */
void user_number_read_ahead(struct store *store, const char *user_id);

/* Whether the numbers of this user are collected now: then its row is locked, or will be with the
 * next statement. */
bool user_number_is_locked(const struct store *store, const char *user_id);

/* Takes the user's next number. Returns false on failure. */
bool user_number_next(struct store *store, const char *user_id, enum user_number kind,
                      int64_t *number);

#endif
