#include "base/id.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { TIME_SIZE = 6, RANDOM_SIZE = 10 };

static void fill_random(unsigned char *bytes) {
    if (getentropy(bytes, RANDOM_SIZE) != 0) {
        perror("switchboard: no random bytes"); /* never continue: ids must not repeat */
        abort();
    }
}

/* Adds 1 to the number; returns false when it overflows to 0. */
static bool increment(unsigned char *bytes) {
    for (int i = RANDOM_SIZE - 1; i >= 0; i--)
        if (++bytes[i])
            return true;
    return false;
}

static void write_time(unsigned char *bits, int64_t ms) {
    for (int i = 0; i < TIME_SIZE; i++)
        bits[i] = (unsigned char)((uint64_t)ms >> (40 - 8 * i));
}

/* Writes the 128 bits of a ULID. Within one millisecond the random part of the last one is
 * incremented; after an overflow it is random again. */
static void next_bits(unsigned char bits[TIME_SIZE + RANDOM_SIZE], int64_t now_ms) {
    static unsigned char last[TIME_SIZE + RANDOM_SIZE];
    write_time(bits, now_ms);
    bool is_same_time = memcmp(bits, last, TIME_SIZE) == 0;
    if (!is_same_time || !increment(last + TIME_SIZE))
        fill_random(last + TIME_SIZE);
    memcpy(last, bits, TIME_SIZE);
    memcpy(bits, last, sizeof last);
}

static void write_id(char id[ID_SIZE], const char *prefix, const unsigned char *bits) {
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    size_t n = strnlen(prefix, 5);
    memcpy(id, prefix, n);
    /* 128 bits as 26 groups of 5, the first holding the 3 highest bits */
    id[n++] = digits[bits[0] >> 5];
    for (int bit = 3; bit < 128; bit += 5) {
        const int byte = bit / 8;
        const unsigned two = (unsigned)bits[byte] << 8 | (byte < 15 ? bits[byte + 1] : 0u);
        id[n++] = digits[two >> (11 - bit % 8) & 31u];
    }
    id[n] = '\0';
}

void id_make(char id[ID_SIZE], const char *prefix, int64_t now_ms) {
    unsigned char bits[TIME_SIZE + RANDOM_SIZE];
    next_bits(bits, now_ms);
    write_id(id, prefix, bits);
}

void id_least(char id[ID_SIZE], const char *prefix, int64_t ms) {
    unsigned char bits[TIME_SIZE + RANDOM_SIZE] = {0};
    int64_t most = (INT64_C(1) << (8 * TIME_SIZE)) - 1;
    write_time(bits, ms < 0 ? 0 : ms < most ? ms : most);
    write_id(id, prefix, bits);
}
