#include "base/crypto.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

_Static_assert(CRYPTO_HASH_SIZE == crypto_hash_sha256_BYTES, "SHA-256");
_Static_assert(CRYPTO_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key size");

static const unsigned char *bytes_of(struct slice s) {
    return (const unsigned char *)(s.p ? s.p : "");
}

void crypto_sha256(struct slice bytes, unsigned char hash[CRYPTO_HASH_SIZE]) {
    crypto_hash_sha256(hash, bytes_of(bytes), bytes.n);
}

struct crypto_sha256 {
    crypto_hash_sha256_state state;
};

struct crypto_sha256 *crypto_sha256_start(struct arena *arena) {
    struct crypto_sha256 *started = arena_alloc(arena, sizeof *started);
    crypto_hash_sha256_init(&started->state);
    return started;
}

void crypto_sha256_add(struct crypto_sha256 *started, struct slice bytes) {
    crypto_hash_sha256_update(&started->state, bytes_of(bytes), bytes.n);
}

void crypto_sha256_end(struct crypto_sha256 *started, unsigned char hash[CRYPTO_HASH_SIZE]) {
    crypto_hash_sha256_final(&started->state, hash);
}

void crypto_hmac_sha256_pieces(struct slice key, const struct slice *pieces, size_t count,
                               unsigned char mac[CRYPTO_HASH_SIZE]) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, bytes_of(key), key.n);
    for (size_t i = 0; i < count; i++)
        crypto_auth_hmacsha256_update(&state, bytes_of(pieces[i]), pieces[i].n);
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_memzero(&state, sizeof state);
}

void crypto_hmac_sha256(struct slice key, struct slice bytes, unsigned char mac[CRYPTO_HASH_SIZE]) {
    crypto_hmac_sha256_pieces(key, &bytes, 1, mac);
}

void crypto_random(void *out, size_t n) {
    for (char *p = out; n > 0;) {
        size_t part = n < 256 ? n : 256;
        if (getentropy(p, part) != 0) {
            perror("switchboard: no random bytes"); /* a guessable secret is worse than none */
            abort();
        }
        p += part, n -= part;
    }
}

bool crypto_equal(struct slice a, struct slice b) {
    return a.n == b.n && (a.n == 0 || sodium_memcmp(a.p, b.p, a.n) == 0);
}

void crypto_wipe(void *bytes, size_t n) {
    sodium_memzero(bytes, n);
}

char *crypto_hex(struct arena *arena, const void *bytes, size_t n) {
    char *text = arena_alloc(arena, 2 * n + 1);
    return sodium_bin2hex(text, 2 * n + 1, bytes, n);
}

bool crypto_unhex(struct slice text, void *bytes, size_t n) {
    size_t length = 0;
    return text.n == 2 * n && sodium_hex2bin(bytes, n, text.p, text.n, NULL, &length, NULL) == 0 &&
           length == n;
}

char *crypto_base64(struct arena *arena, const void *bytes, size_t n) {
    size_t size = sodium_base64_encoded_len(n, sodium_base64_VARIANT_ORIGINAL);
    return sodium_bin2base64(arena_alloc(arena, size), size, bytes, n,
                             sodium_base64_VARIANT_ORIGINAL);
}

struct slice crypto_unbase64(struct arena *arena, struct slice text) {
    unsigned char *out = arena_alloc(arena, text.n + 1);
    size_t n = 0;
    const char *end = NULL;
    if (!text.p ||
        sodium_base642bin(out, text.n, text.p, text.n, NULL, &n, &end,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        end != text.p + text.n)
        return (struct slice){NULL, 0};
    return (struct slice){(char *)out, n};
}

enum {
    NONCE_SIZE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_SIZE = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    SEAL_SIZE = 1 + NONCE_SIZE + TAG_SIZE, /* what sealing adds */
};

struct slice crypto_seal(const struct keyring *ring, struct arena *arena, struct slice secret,
                         const char *place) {
    const struct keyring_key *newest = keyring_newest(ring);
    unsigned char *out = arena_alloc(arena, SEAL_SIZE + secret.n);
    out[0] = newest->id;
    crypto_random(out + 1, NONCE_SIZE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        out + 1 + NONCE_SIZE, NULL, bytes_of(secret), secret.n, (const unsigned char *)place,
        strlen(place), NULL, out + 1, newest->key);
    return (struct slice){(char *)out, SEAL_SIZE + secret.n};
}

struct slice crypto_open(const struct keyring *ring, struct arena *arena, struct slice sealed,
                         const char *place) {
    if (sealed.n < SEAL_SIZE)
        return (struct slice){NULL, 0};
    const unsigned char *in = bytes_of(sealed);
    size_t n = sealed.n - SEAL_SIZE;
    unsigned char *out = arena_alloc(arena, n + 1);
    for (size_t i = 0; i < ring->count; i++)
        if (ring->keys[i].id == in[0] &&
            crypto_aead_xchacha20poly1305_ietf_decrypt(
                out, NULL, NULL, in + 1 + NONCE_SIZE, n + TAG_SIZE, (const unsigned char *)place,
                strlen(place), in + 1, ring->keys[i].key) == 0)
            return (struct slice){(char *)out, n};
    return (struct slice){NULL, 0};
}
