/* Platform access tokens: from standard input, and out of the database. */
#ifndef SWITCHBOARD_ADMIN_SECRET_H
#define SWITCHBOARD_ADMIN_SECRET_H

#include "base/slice.h"

struct invocation;
struct store_account;

/* Reads a platform access token: one line of standard input, white space at its ends cut off; at a
 * terminal it is asked for and not shown. Returns EXIT_DONE with `*sealed` encrypted for the
 * account (p == NULL when the input was empty), or EXIT_FAILED after saying why. */
int secret_read_token(struct invocation *call, const char *account_id, struct slice *sealed);

/* The account's platform access token. Returns EXIT_DONE, or EXIT_FAILED after saying why there is
 * none. */
int secret_open_token(struct invocation *call, const struct store_account *account,
                      const char **token);

#endif
