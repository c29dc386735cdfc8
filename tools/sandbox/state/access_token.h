/* Access tokens: valid when an account has them, unless a control call set another state; and that
 * of the app, `APP_ID|APP_SECRET`. All calls are made under the lock of the state, those that
 * change it under the write lock. */
#ifndef SANDBOX_ACCESS_TOKEN_H
#define SANDBOX_ACCESS_TOKEN_H

#include "text/json_fields.h"

enum token_state { TOKEN_UNKNOWN, TOKEN_VALID, TOKEN_EXPIRED, TOKEN_REVOKED, TOKEN_APP };

/* Returns the state of a token. */
enum token_state token_check(const char *token);

/* Sets the state of a token: {token, state: valid|expired|revoked}; a valid token is one of an
 * account. Returns NULL, or the text of an error. */
const char *token_put(const cJSON *json);

/* Appends the states that token_put set, as its bodies, the oldest first. */
void token_print(struct buffer *out);

/* Deletes the states that token_put set. */
void token_clear(void);

#endif
