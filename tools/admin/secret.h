/* Platform access tokens: from standard input, and out of the database. */
#ifndef SWITCHBOARD_ADMIN_SECRET_H
#define SWITCHBOARD_ADMIN_SECRET_H

#include "store/store.h"

struct invocation;
struct store_account;

/* A platform access token on its way from standard input into the database. */
struct secret {
    struct invocation *call;
    const char *account_id;
    char text[4096 + 64];
    struct slice token; /* in `text`; n == 0: the input was empty */
    bool has_failed;    /* it could not be sealed; the reason was told */
};

/* Reads a platform access token for the account: one line of standard input, white space at its
 * ends cut off; at a terminal it is asked for and not shown. Returns EXIT_DONE, or EXIT_FAILED
 * after saying why. Call secret_wipe afterwards. */
int secret_read_token(struct invocation *call, const char *account_id, struct secret *secret);

/* To be stored: sealed for the account. */
struct store_secret secret_to_store(struct secret *secret);

void secret_wipe(struct secret *secret);

/* The account's platform access token. Returns EXIT_DONE, or EXIT_FAILED after saying why there is
 * none. */
int secret_open_token(struct invocation *call, const struct store_account *account,
                      const char **token);

#endif
