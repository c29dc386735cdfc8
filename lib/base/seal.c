#include "base/seal.h"

#include <sodium.h>

#include "base/crypto.h"

_Static_assert(CRYPTO_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key size");

enum {
    NONCE_SIZE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_SIZE = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    SEAL_SIZE = 1 + NONCE_SIZE + TAG_SIZE, /* bytes added to the secret: key id, nonce, tag */
};

struct slice seal_secret(const struct keyring *ring, struct arena *arena, struct slice secret,
                         const char *context) {
    const struct keyring_key *newest = keyring_newest(ring);
    unsigned char *out = arena_alloc(arena, SEAL_SIZE + secret.n);
    out[0] = newest->id;
    crypto_random(out + 1, NONCE_SIZE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(out + 1 + NONCE_SIZE, NULL, slice_octets(secret),
                                               secret.n, (const unsigned char *)context,
                                               strlen(context), NULL, out + 1, newest->key);
    return (struct slice){(char *)out, SEAL_SIZE + secret.n};
}

struct slice seal_open(const struct keyring *ring, struct arena *arena, struct slice sealed,
                       const char *context) {
    if (sealed.n < SEAL_SIZE)
        return (struct slice){NULL, 0};
    const unsigned char *in = slice_octets(sealed);
    size_t n = sealed.n - SEAL_SIZE;
    unsigned char *out = arena_alloc(arena, n + 1);
    for (size_t i = 0; i < ring->count; i++)
        if (ring->keys[i].id == in[0] &&
            crypto_aead_xchacha20poly1305_ietf_decrypt(
                out, NULL, NULL, in + 1 + NONCE_SIZE, n + TAG_SIZE, (const unsigned char *)context,
                strlen(context), in + 1, ring->keys[i].key) == 0)
            return (struct slice){(char *)out, n};
    return (struct slice){NULL, 0};
}
