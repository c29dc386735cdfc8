#include "base/totp.h"

#include <string.h>

#include "base/crypto.h"
#include "base/sha1.h"

enum { COUNTER_SIZE = 8 };

/* SHA-1 of a block of the key, changed by `pad`, and at most SHA1_SIZE bytes after it (RFC 2104).
 */
static void hash_padded(struct slice key, unsigned char pad, struct slice bytes,
                        unsigned char hash[SHA1_SIZE]) {
    unsigned char text[SHA1_BLOCK + SHA1_SIZE] = {0};
    memcpy(text, key.p, key.n < SHA1_BLOCK ? key.n : SHA1_BLOCK);
    for (size_t i = 0; i < SHA1_BLOCK; i++)
        text[i] ^= pad;
    memcpy(text + SHA1_BLOCK, bytes.p, bytes.n);
    sha1((struct slice){(const char *)text, SHA1_BLOCK + bytes.n}, hash);
    crypto_wipe(text, sizeof text);
}

/* HMAC-SHA1 with a key of at most one block. */
static void hmac_sha1(struct slice key, struct slice bytes, unsigned char mac[SHA1_SIZE]) {
    enum { INNER = 0x36, OUTER = 0x5c };
    unsigned char inner[SHA1_SIZE];
    hash_padded(key, INNER, bytes, inner);
    hash_padded(key, OUTER, (struct slice){(const char *)inner, sizeof inner}, mac);
}

int64_t totp_step(int64_t now) {
    return now / TOTP_STEP_MS;
}

uint32_t totp_bits(struct slice secret, int64_t step) {
    unsigned char counter[COUNTER_SIZE], mac[SHA1_SIZE];
    uint64_t rest = (uint64_t)step;
    for (int i = COUNTER_SIZE; i-- > 0; rest >>= 8)
        counter[i] = rest & 0xff;
    hmac_sha1(secret, (struct slice){(const char *)counter, sizeof counter}, mac);
    const unsigned char *at = mac + (mac[SHA1_SIZE - 1] & 0xf);
    return (at[0] & 0x7fU) << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

int64_t totp_find_step(struct slice secret, struct slice code, int64_t now, int64_t last) {
    enum { MODULUS = 1000000 };
    const int64_t present = totp_step(now);
    char text[TOTP_DIGITS + 1];
    int64_t found = -1;
    for (int64_t step = present - 1; step <= present + 1; step++) {
        uint32_t rest = totp_bits(secret, step) % MODULUS;
        for (int i = TOTP_DIGITS; i-- > 0; rest /= 10)
            text[i] = (char)('0' + rest % 10);
        if (crypto_equal(code, (struct slice){text, TOTP_DIGITS}) && step > last && found < 0)
            found = step;
    }
    crypto_wipe(text, sizeof text);
    return found;
}

char *totp_base32(struct arena *arena, const void *bytes, size_t n) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    const unsigned char *in = bytes;
    char *text = arena_alloc(arena, n * 8 / 5 + 2), *out = text;
    unsigned held = 0, bits = 0;
    for (size_t i = 0; i < n; i++) {
        held = held << 8 | in[i];
        for (bits += 8; bits >= 5; bits -= 5)
            *out++ = letters[held >> (bits - 5) & 31U];
    }
    if (bits)
        *out++ = letters[held << (5 - bits) & 31U];
    *out = '\0';
    return text;
}
