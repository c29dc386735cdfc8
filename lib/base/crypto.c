#include "base/crypto.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

_Static_assert(CRYPTO_HASH_SIZE == crypto_hash_sha256_BYTES, "SHA-256");

void crypto_sha256(struct slice bytes, unsigned char hash[CRYPTO_HASH_SIZE]) {
    crypto_hash_sha256(hash, slice_octets(bytes), bytes.n);
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
    crypto_hash_sha256_update(&started->state, slice_octets(bytes), bytes.n);
}

void crypto_sha256_end(struct crypto_sha256 *started, unsigned char hash[CRYPTO_HASH_SIZE]) {
    crypto_hash_sha256_final(&started->state, hash);
}

void crypto_hmac_sha256_pieces(struct slice key, const struct slice *pieces, size_t count,
                               unsigned char mac[CRYPTO_HASH_SIZE]) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, slice_octets(key), key.n);
    for (size_t i = 0; i < count; i++)
        crypto_auth_hmacsha256_update(&state, slice_octets(pieces[i]), pieces[i].n);
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
            perror("switchboard: no random bytes"); /* never continue with a predictable secret */
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
