/* Random numbers that a seed decides (SplitMix64). */
#ifndef WORLD_RANDOM_H
#define WORLD_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* From 0 to n - 1. */
static inline unsigned random_below(uint64_t *state, unsigned n) {
    return (unsigned)((random_next(state) >> 32) % n);
}

static inline bool random_chance(uint64_t *state, unsigned percent) {
    return random_below(state, 100) < percent;
}

/* A stream of its own for the thing with this number. */
static inline uint64_t random_of(uint64_t seed, uint64_t number) {
    uint64_t state = seed * UINT64_C(0x2545f4914f6cdd1d) + number;
    random_next(&state);
    return random_next(&state);
}

#endif
