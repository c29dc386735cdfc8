/* API tokens, and secrets of the same form: a prefix and 64 hexadecimal digits of 32 random bytes
 * (spec 5.1). */
#ifndef SWITCHBOARD_TOKEN_H
#define SWITCHBOARD_TOKEN_H

#include "base/crypto.h"

#define TOKEN_MAIN   "sb_"  /* the prefix of a user's main token */
#define TOKEN_SCOPED "sbk_" /* of one with a part of its scopes; they are looked up by it */

enum { TOKEN_SIZE = 4 + 64 + 1, TOKEN_LAST_SIZE = 4 + 1 };

/* A new token, and what is stored of it: its hash, and its last characters, which identify it in
 * the dashboard. */
struct token {
    char text[TOKEN_SIZE];
    unsigned char hash[CRYPTO_HASH_SIZE];
    char last4[TOKEN_LAST_SIZE];
};

/* `prefix`: TOKEN_MAIN or TOKEN_SCOPED; "" for the secret of a link or a cookie. */
void token_make(struct token *token, const char *prefix);

#endif
