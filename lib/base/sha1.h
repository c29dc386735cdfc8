/* SHA-1 (FIPS 180-4), for HMAC-SHA1 alone, which authenticator apps expect (RFC 6238): libsodium
 * has no SHA-1, and the collisions of SHA-1 do not concern an HMAC. */
#ifndef SWITCHBOARD_SHA1_H
#define SWITCHBOARD_SHA1_H

#include "base/slice.h"

enum { SHA1_SIZE = 20, SHA1_BLOCK = 64 };

/* Sets `hash` to the hash of the bytes. */
void sha1(struct slice bytes, unsigned char hash[SHA1_SIZE]);

#endif
