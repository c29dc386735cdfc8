/* Pseudo-random bytes that can be generated from any position: the content of media that no client
 * uploaded. */
#ifndef SANDBOX_RANDOM_BYTES_H
#define SANDBOX_RANDOM_BYTES_H

#include <stdint.h>

#include "base/arena.h"

/* Writes `length` bytes of the sequence of `seed`, from `position`, to `out`. */
void random_bytes(int64_t seed, int64_t position, char *out, size_t length);

/* Returns the SHA-256 of the first `size` bytes in hexadecimal, in `arena`. */
const char *random_bytes_sha256(struct arena *arena, int64_t seed, int64_t size);

#endif
