/* Prints API tokens. */
#ifndef SWITCHBOARD_ADMIN_TOKEN_H
#define SWITCHBOARD_ADMIN_TOKEN_H

#include "base/token.h"

/* Prints the token and its user. The token is not stored, so it cannot be printed again. */
struct invocation;
void token_print(struct invocation *call, const char *user_id, const char *email,
                 const struct token *token);

#endif
