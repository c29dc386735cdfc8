/* Encryption of single values at rest, with XChaCha20-Poly1305 (libsodium). */
#ifndef SWITCHBOARD_SEAL_H
#define SWITCHBOARD_SEAL_H

#include "base/keyring.h"

/* Encrypts `secret` with the newest key. Returns key id, nonce and ciphertext, in `arena`.
 * `context` names the row that stores the value, such as "account.access_token|acc_...". It is
 * authenticated as additional data, so an encrypted value that is copied to another row cannot be
 * decrypted. */
struct slice seal_secret(const struct keyring *ring, struct arena *arena, struct slice secret,
                         const char *context);

/* Decrypts the result of seal_secret for the same context. Returns the secret, in `arena`; a NUL
 * byte follows it. p == NULL when the key is not in the ring, the context is another one, or the
 * bytes were changed. */
struct slice seal_open(const struct keyring *ring, struct arena *arena, struct slice sealed,
                       const char *context);

#endif
