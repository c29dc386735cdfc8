#include "state/random_bytes.h"

#include <sodium.h>

#include "base/crypto.h"

enum { CHACHA_BLOCK = 64 };

/* Replaces `out`, from a multiple of CHACHA_BLOCK on, by the ChaCha20 key stream of the seed. */
static void key_stream(int64_t seed, int64_t position, void *out, size_t length) {
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    unsigned char key[crypto_stream_chacha20_KEYBYTES] = {0};
    memcpy(key, &seed, sizeof seed);
    memset(out, 0, length);
    crypto_stream_chacha20_xor_ic(out, out, length, nonce, (uint64_t)(position / CHACHA_BLOCK),
                                  key);
}

void random_bytes(int64_t seed, int64_t position, char *out, size_t length) {
    while (length > 0) {
        size_t skip = (size_t)(position % CHACHA_BLOCK);
        size_t piece = length - length % CHACHA_BLOCK;
        if (skip == 0 && piece > 0) {
            key_stream(seed, position, out, piece);
        } else {
            char block[CHACHA_BLOCK];
            piece = CHACHA_BLOCK - skip < length ? CHACHA_BLOCK - skip : length;
            key_stream(seed, position - (int64_t)skip, block, sizeof block);
            memcpy(out, block + skip, piece);
        }
        out += piece;
        position += (int64_t)piece;
        length -= piece;
    }
}

const char *random_bytes_sha256(struct arena *arena, int64_t seed, int64_t size) {
    struct crypto_sha256 *state = crypto_sha256_start(arena);
    unsigned char hash[CRYPTO_HASH_SIZE];
    char block[1 << 14];
    for (int64_t at = 0; at < size; at += (int64_t)sizeof block) {
        size_t piece = size - at < (int64_t)sizeof block ? (size_t)(size - at) : sizeof block;
        random_bytes(seed, at, block, piece);
        crypto_sha256_add(state, (struct slice){block, piece});
    }
    crypto_sha256_end(state, hash);
    return crypto_hex(arena, hash, sizeof hash);
}
