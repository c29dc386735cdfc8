/* The database and the keys of this process, for the current request. A failure here fails the
 * request: 500 INTERNAL_ERROR (spec 7), with `Retry-After` if a later request may succeed; 503 with
 * `Retry-After` when a database server is busy or cannot be reached, and while the content of the
 * database is moved to another one.
 *
 * A program that uses this file and declares READS_DATABASE opens the database before it is
 * confined; so does one that declares WRITES_DATABASE if the database is on a server, to which a
 * confined process cannot connect unless it uses the network. state_store reports a failure. */
#ifndef SWITCHBOARD_STATE_H
#define SWITCHBOARD_STATE_H

#include "base/keyring.h"
#include "store/store.h"
#include "web/request.h"

/* Seconds: the operator writes the new database into the configuration meanwhile. */
#define STATE_MOVED_RETRY_AFTER "10"

/* Returns the open database. It is opened at the first use, and again when its file was replaced.
 * A database that was opened before the confinement cannot be reopened: then a replaced file, or a
 * lost connection, fails the request and ends the process. NULL after failing the request with
 * `code`: INTERNAL, or UNAVAILABLE, which always has `Retry-After`. Closed at the end of the
 * process. */
struct store *state_store(struct request *rq, enum failure_code code);

/* Takes a view of the open database (store_hold_view), which request_release releases. */
void state_hold_view(struct request *rq);

/* Fails the request for a store call that did not succeed; logs the reason. Returns -1. */
int state_fail(struct request *rq, enum store_result result);

/* Opens a file for locks that all processes of this machine share, before the process is confined:
 * beside the database, or in spool_dir for one on a server. Returns -1 after logging why not. */
int state_open_lock(struct request *rq, const char *name);
/* The same; but where the call found no row, fails the request with 404 and `text`. */
#define state_fail_absent(rq, result, text)                                                        \
    ((result) == STORE_NOT_FOUND ? fail(rq, NOT_FOUND, "%s", text) : state_fail(rq, result))

/* Returns the keys of the key file, which is read at the first use and when it has changed. NULL
 * after failing the request. */
const struct keyring *state_keys(struct request *rq);

/* A sealed value, and how to read it again. */
struct state_sealed {
    struct slice sealed; /* n == 0: there is none */
    const char *context; /* it was sealed with (seal.h) */

    /* Reads `sealed` again from the database. Returns 0, or -1 after failing the request. */
    int (*read_again)(struct request *rq, struct state_sealed *value);
    void *object; /* for read_again */
};

/* Decrypts the value, in the request's memory; n == 0 when there is none. If no key opens it, the
 * keys may have been rotated since it was read: then reads it and the keys again, a few times, each
 * time in a new state of the database. p == NULL when it cannot be decrypted, or after failing the
 * request. */
struct slice state_open_sealed(struct request *rq, struct state_sealed *value);

/* Seals `text` with the present keys. `*sealed` is the result of an earlier call, which is returned
 * again as long as the key is the same, or has no bytes. p == NULL after failing the request. */
struct slice state_seal(struct request *rq, struct slice text, const char *context,
                        struct slice *sealed);

/* Returns the account's platform access token, decrypted, in the request's memory. NULL after
 * failing the request: 404 when the account has no token. */
const char *state_account_token(struct request *rq, const struct store_account *account);

#endif
