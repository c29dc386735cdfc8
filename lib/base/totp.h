/* Time-based one-time passwords (RFC 6238) of 6 digits, with SHA-1 and steps of 30 s: other hashes
 * and lengths are ignored by many authenticator apps. */
#ifndef SWITCHBOARD_TOTP_H
#define SWITCHBOARD_TOTP_H

#include <stdint.h>

#include "base/arena.h"

enum { TOTP_SECRET_SIZE = 20, TOTP_DIGITS = 6, TOTP_STEP_MS = 30 * 1000 };

/* The number of the time step (RFC 6238 4.2) at `now`, in milliseconds. */
int64_t totp_step(int64_t now);

/* The 31 bits of the HMAC of the step (RFC 4226 5.3), of which a code has the last decimal digits.
 */
uint32_t totp_bits(struct slice secret, int64_t step);

/* Finds the step of which `code` is the code: the present one, or the one before or after it (RFC
 * 6238 5.2), and later than `last`. -1: it is the code of none of them. */
int64_t totp_find_step(struct slice secret, struct slice code, int64_t now, int64_t last);

/* Returns the bytes in base32 without padding (RFC 4648 6), as apps take a secret; in `arena`. */
char *totp_base32(struct arena *arena, const void *bytes, size_t n);

#endif
