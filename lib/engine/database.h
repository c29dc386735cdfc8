/* The handle of a database of any kind: results and their causes, opening, closing, views, limits.
 * store/store.h is its header for the rest of the program. */
#ifndef SWITCHBOARD_ENGINE_DATABASE_H
#define SWITCHBOARD_ENGINE_DATABASE_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/id.h"

struct store;

enum store_result {
    STORE_OK,
    STORE_NOT_FOUND,   /* no such row */
    STORE_CONFLICT,    /* a constraint would be violated, such as a unique value */
    STORE_BUSY,        /* locked for longer than 5 s: try again */
    STORE_FULL,        /* no space left */
    STORE_UNAVAILABLE, /* missing, not readable, or of another schema version */
    STORE_CORRUPT,
    STORE_UNKNOWN,   /* anything else */
    STORE_EXCESSIVE, /* more work than store_limit_work allows; nothing changed */
};

/* Returns the cause of the last result that was not STORE_OK, for the log. */
const char *store_reason(const struct store *store);

/* Whether the last failure was that of the connection to a server, which a later one may not have.
 */
bool store_is_unreachable(const struct store *store);

/* Whether the last failure is that the content of the database is being moved to another one, or
 * was moved. It lasts until the configuration names the other one, or the move has failed. */
bool store_is_moved(const struct store *store);

/* Whether a write was not answered when the store was opened: the server waits for a synchronous
 * standby that is not there. Reads are answered. */
bool store_is_stuck(const struct store *store);

/* Opens the existing database at `target`, a value of the configuration key `database`. On failure
 * `*store` is set too, for store_reason and store_close only. STORE_UNAVAILABLE also for a target
 * that no driver supports. */
enum store_result store_open(const char *target, struct store **store);

/* The same, read-only: the process cannot change the database. No file or connection is opened
 * later, so the process may give up the permission to open some. Read such a store within a view
 * only (store_hold_view). */
enum store_result store_open_for_reading(const char *target, struct store **store);

/* Starts a view, until a transaction begins or the view is released. It makes several reads
 * cheaper: on SQLite they take the read lock once, and see the database as of the first of them; on
 * a server each may see what was committed before it. A view keeps the database from reusing space:
 * do not wait for a client or for the platform with it. */
void store_hold_view(struct store *store);

/* Ends the view. Does nothing without a view, or for NULL. */
void store_release_view(struct store *store);

/* From now on a store on a server that has lost its connection fails with STORE_UNAVAILABLE: for a
 * process that may not open connections. Otherwise it connects again. Returns the socket of the
 * connection, which stays the store's, so that the process can see its end; -1: there is none. */
int store_forbid_reconnecting(struct store *store);

/* Limits the work of each later transaction: one that needs more than `most` units fails with
 * STORE_EXCESSIVE; 0: no limit. On SQLite a unit is a step of its virtual machine; a page in the
 * cache costs ten, a page that is read or written two hundred. Work is counted, not timed, so that
 * the result does not depend on the speed of the machine. On a server a statement costs 100 units,
 * and each row that it changes, but the first, 400: the server's own work cannot be counted. */
void store_limit_work(struct store *store, int64_t most);

/* Limits the time of all later transactions together, with their repetitions, to `ms` from now on;
 * 0: no limit. At the end the server ends the running statement, and the transaction fails:
 *
 *     limit of work | work done      | one wait for the server | result
 *     none          | any            | any                     | STORE_BUSY
 *     set           | a tenth of it  | any                     | STORE_EXCESSIVE
 *     set           | less           | half of the time        | STORE_EXCESSIVE
 *     set           | less           | less                    | STORE_BUSY
 *
 * A server that does not answer is lost 5 s later. On SQLite, whose work is counted, the limit of
 * time does nothing. */
void store_limit_time(struct store *store, int64_t ms);

/* Closes the store. Does nothing for NULL. */
void store_close(struct store *store);

/* Whether `target` is the target that was opened, and the connection can still be used: on SQLite,
 * the path still names the same file. If not, store_reason returns the cause; close the store. */
bool store_is_alive(struct store *store, const char *target);

/* Sets how long later calls wait for a lock (5 s by default): a process with other work tries again
 * later. */
enum store_result store_set_lock_timeout(struct store *store, int ms);

/* A secret to store. It is sealed while the write lock is held, with the current keys, so that no
 * key rotation can happen between sealing and storing. `seal` returns the same value for the same
 * secret and keys, by which a repeated call finds its own value. */
struct store_secret {
    struct slice (*seal)(void *context); /* p == NULL on failure; then nothing is stored */
    void *context;
};

#endif
