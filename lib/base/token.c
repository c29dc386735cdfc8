#include "base/token.h"

#include <stdio.h>

void token_make(struct token *token, const char *prefix) {
    unsigned char bytes[32];
    crypto_random(bytes, sizeof bytes);
    size_t n = (size_t)snprintf(token->text, sizeof token->text, "%s", prefix);
    for (size_t i = 0; i < sizeof bytes; i++, n += 2)
        snprintf(token->text + n, sizeof token->text - n, "%02x", bytes[i]);
    crypto_sha256(slice_of(token->text), token->hash);
    snprintf(token->last4, sizeof token->last4, "%s", token->text + n - 4);
    crypto_wipe(bytes, sizeof bytes);
}
