/* Secrets: reads them from standard input; platform access tokens: opens those of the database. */
#ifndef SWITCHBOARD_ADMIN_SECRET_H
#define SWITCHBOARD_ADMIN_SECRET_H

#include <sys/types.h>

#include "store/store.h"

struct invocation;
struct store_account;

/* Reads up to `size` bytes of standard input, to its end; at a terminal one line, after the prompt
 * `what`, with echo off. Returns their number, or -1 after printing the reason. */
ssize_t secret_read(const char *what, char *text, size_t size);

/* `text` without the white space at its ends, as the line that secret_read has read. */
struct slice secret_trim(struct slice text);

/* Seals a text for a call of the store, with the newest of the present keys: `sealed`, the result
 * before, again unless the key was replaced meanwhile; see struct store_secret. `context` as for
 * seal_secret. p == NULL after printing the reason. */
struct slice secret_seal(struct invocation *call, struct slice text, const char *context,
                         struct slice sealed);

/* A platform access token that was read and is to be stored. */
struct secret {
    struct invocation *call;
    const char *account_id;
    char text[4096 + 64];
    struct slice token;  /* in `text`; n == 0: the input was empty */
    struct slice sealed; /* as it was stored; p == NULL: not yet */
    bool has_failed;     /* it could not be sealed; the reason was printed */
};

/* Reads a platform access token for the account: one line of standard input, without the white
 * space at its ends. At a terminal it prompts, with echo off. Returns EXIT_DONE, or EXIT_FAILED
 * after printing the reason. Call secret_wipe afterwards. */
int secret_read_token(struct invocation *call, const char *account_id, struct secret *secret);

/* The secret for a call of the store, which seals it for the account inside its transaction. The
 * result refers to `secret`. */
struct store_secret secret_to_store(struct secret *secret);

void secret_wipe(struct secret *secret);

/* Sets `*token` to the account's platform access token, in the invocation's arena. Returns
 * EXIT_DONE, or EXIT_FAILED after printing the reason. */
int secret_open_token(struct invocation *call, const struct store_account *account,
                      const char **token);

#endif
