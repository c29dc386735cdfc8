/* Encryption at rest of single values, with XChaCha20-Poly1305 (libsodium). */
#ifndef SWITCHBOARD_SEAL_H
#define SWITCHBOARD_SEAL_H

#include "base/keyring.h"

/* Encrypts `secret` with the newest key: key id, nonce, ciphertext, in `arena`. `context` names
 * where the value is stored, such as "account.access_token|acc_...": it is authenticated as
 * additional data, so that a sealed value that is copied to another row does not open there. */
struct slice seal_secret(const struct keyring *ring, struct arena *arena, struct slice secret,
                         const char *context);

/* Decrypts what seal_secret made for the same context, in `arena`. p == NULL when it was not made
 * with one of these keys, was made for another context, or was changed. A NUL byte follows its end.
 */
struct slice seal_open(const struct keyring *ring, struct arena *arena, struct slice sealed,
                       const char *context);

#endif
