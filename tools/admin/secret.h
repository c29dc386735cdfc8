/* Secrets from standard input. */
#ifndef SWITCHBOARD_ADMIN_SECRET_H
#define SWITCHBOARD_ADMIN_SECRET_H

#include "base/slice.h"

struct invocation;

/* Reads a platform access token: one line of standard input, white space at its ends cut off; at a
 * terminal it is asked for and not shown. Returns EXIT_DONE with `*sealed` encrypted for the
 * account (p == NULL when the input was empty), or EXIT_FAILED after saying why. */
int secret_read_token(struct invocation *call, const char *account_id, struct slice *sealed);

#endif
