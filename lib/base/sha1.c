#include "base/sha1.h"

#include <stdint.h>
#include <string.h>

#include "base/crypto.h"

enum { WORDS = 5, ROUNDS = 80, LENGTH_SIZE = 8 };

static uint32_t rotate(uint32_t x, int bits) {
    return x << bits | x >> (32 - bits);
}

/* The function and the constant of a round (FIPS 180-4, 4.1.1 and 4.2.1), added. */
static uint32_t mix(int round, uint32_t b, uint32_t c, uint32_t d) {
    switch (round / 20) {
    case 0: return ((b & c) ^ (~b & d)) + 0x5a827999;
    case 1: return (b ^ c ^ d) + 0x6ed9eba1;
    case 2: return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc;
    default: return (b ^ c ^ d) + 0xca62c1d6;
    }
}

static void add_block(uint32_t state[WORDS], const unsigned char *block) {
    uint32_t w[ROUNDS], a[WORDS];
    for (int i = 0; i < SHA1_BLOCK / 4; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    for (int i = SHA1_BLOCK / 4; i < ROUNDS; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(a, state, sizeof a);
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t next = rotate(a[0], 5) + mix(i, a[1], a[2], a[3]) + a[4] + w[i];
        a[4] = a[3];
        a[3] = a[2];
        a[2] = rotate(a[1], 30);
        a[1] = a[0];
        a[0] = next;
    }
    for (int i = 0; i < WORDS; i++)
        state[i] += a[i];
    crypto_wipe(w, sizeof w);
    crypto_wipe(a, sizeof a);
}

/* Adds what is left of the bytes, a bit, and the number of all bits. */
static void add_end(uint32_t state[WORDS], struct slice rest, uint64_t size) {
    unsigned char last[2 * SHA1_BLOCK] = {0};
    const size_t used = rest.n + 1 + LENGTH_SIZE <= SHA1_BLOCK ? SHA1_BLOCK : 2 * SHA1_BLOCK;
    if (rest.n)
        memcpy(last, rest.p, rest.n);
    last[rest.n] = 0x80;
    for (size_t i = 1; i <= LENGTH_SIZE; i++)
        last[used - i] = (unsigned char)(size * 8 >> 8 * (i - 1));
    for (size_t at = 0; at < used; at += SHA1_BLOCK)
        add_block(state, last + at);
    crypto_wipe(last, sizeof last);
}

void sha1(struct slice bytes, unsigned char hash[SHA1_SIZE]) {
    uint32_t state[WORDS] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    struct slice rest = bytes;
    for (; rest.n >= SHA1_BLOCK; rest.p += SHA1_BLOCK, rest.n -= SHA1_BLOCK)
        add_block(state, (const unsigned char *)rest.p);
    add_end(state, rest, bytes.n);
    for (int i = 0; i < SHA1_SIZE; i++)
        hash[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
