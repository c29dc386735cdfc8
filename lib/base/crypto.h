/* Hashes, message authentication codes, random bytes and encodings, by libsodium. */
#ifndef SWITCHBOARD_CRYPTO_H
#define SWITCHBOARD_CRYPTO_H

#include "base/arena.h"

enum { CRYPTO_HASH_SIZE = 32 };

/* SHA-256. */
void crypto_sha256(struct slice bytes, unsigned char hash[CRYPTO_HASH_SIZE]);

/* SHA-256 of several pieces: call start once, add for each piece, end once. */
struct crypto_sha256;
struct crypto_sha256 *crypto_sha256_start(struct arena *arena);
void crypto_sha256_add(struct crypto_sha256 *state, struct slice bytes);
void crypto_sha256_end(struct crypto_sha256 *state, unsigned char hash[CRYPTO_HASH_SIZE]);

/* HMAC-SHA256 with a key of any length (RFC 2104). */
void crypto_hmac_sha256(struct slice key, struct slice bytes, unsigned char mac[CRYPTO_HASH_SIZE]);

/* HMAC-SHA256 of the concatenation of `count` pieces. */
void crypto_hmac_sha256_pieces(struct slice key, const struct slice *pieces, size_t count,
                               unsigned char mac[CRYPTO_HASH_SIZE]);

/* Fills `out` with `n` bytes of getentropy(3); calls abort(3) when that fails. */
void crypto_random(void *out, size_t n);

/* Whether both are equal. Takes a time that depends on their lengths only. */
bool crypto_equal(struct slice a, struct slice b);

/* Overwrites `n` bytes with zeros; the compiler cannot remove the call. */
void crypto_wipe(void *bytes, size_t n);

/* Returns the bytes as lower-case hexadecimal text, in `arena`. */
char *crypto_hex(struct arena *arena, const void *bytes, size_t n);

/* Decodes exactly 2 * n hexadecimal digits into `bytes`. Returns false when `text` has another
 * form. */
bool crypto_unhex(struct slice text, void *bytes, size_t n);

/* Encode to and decode from standard base64 with padding (RFC 4648 4), in `arena`. Decoding returns
 * p == NULL when `text` is not base64. */
char *crypto_base64(struct arena *arena, const void *bytes, size_t n);
struct slice crypto_unbase64(struct arena *arena, struct slice text);

#endif
