/* API tokens: `sb_` and 64 hexadecimal digits of 32 random bytes (spec 5.1). */
#ifndef SWITCHBOARD_ADMIN_TOKEN_H
#define SWITCHBOARD_ADMIN_TOKEN_H

#include "base/crypto.h"

enum { TOKEN_SIZE = 3 + 64 + 1 };

/* A new token, and its hash, which is stored. */
struct token {
    char text[TOKEN_SIZE];
    unsigned char hash[CRYPTO_HASH_SIZE];
};

void token_make(struct token *token);

/* Prints the token and its user. The token is not stored, so it cannot be printed again. */
struct invocation;
void token_print(struct invocation *call, const char *user_id, const char *email,
                 const struct token *token);

#endif
