/* This process's database and keys, for the request at hand. Failures here are failures of the
 * request: 500 INTERNAL_ERROR (spec 7), with `Retry-After` where waiting helps. */
#ifndef SWITCHBOARD_STATE_H
#define SWITCHBOARD_STATE_H

#include "base/keyring.h"
#include "store/store.h"
#include "web/request.h"

/* Opens the database for reading: `prepare` of the services that do no more (request.h). What comes of
 * it state_store tells. */
void state_prepare(struct request *rq);

/* The open database; opened at the first use and again when the configured file changes, where that
 * was not done by state_prepare. NULL after failing the request. Closed at the end of the process.
 */
struct store *state_store(struct request *rq);

/* Releases the view that the guard took of the database (store_hold_view): before anybody is waited
 * for, and when the request ends. */
void state_end_view(struct request *rq);

/* Fails the request for a store call that did not succeed; logs the reason. Returns -1. */
int state_fail(struct request *rq, enum store_result result);

/* A sealed value that does not open, and the keys, are read anew so many times in all: the keys may
 * be rotated between the one and the other. */
enum { STATE_READINGS = 5 };

/* The keys of the key file, read at the first use and again when the file changes. NULL after
 * failing the request. */
const struct keyring *state_keys(struct request *rq);

/* The platform access token of the account, decrypted, in the request's memory. NULL after failing
 * the request: 404 when the account has none. */
const char *state_account_token(struct request *rq, const struct store_account *account);

#endif
