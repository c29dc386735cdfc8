/* What the clients of FastCGI among the helpers share. */
#ifndef SWITCHBOARD_TESTS_FASTCGI_H
#define SWITCHBOARD_TESTS_FASTCGI_H

#include <string.h>

/* Encodes NAME=VALUE as a name-value pair (FastCGI 1.0, 3.4) with lengths of four bytes; returns
 * its size. */
static inline size_t put_pair(char *out, const char *pair) {
    const char *equals = strchr(pair, '=');
    size_t lengths[] = {(size_t)(equals - pair), strlen(equals + 1)}, n = 0;
    for (int i = 0; i < 2; i++, n += 4) {
        out[n] = (char)(0x80 | lengths[i] >> 24), out[n + 1] = (char)(lengths[i] >> 16);
        out[n + 2] = (char)(lengths[i] >> 8), out[n + 3] = (char)lengths[i];
    }
    memcpy(out + n, pair, lengths[0]);
    memcpy(out + n + lengths[0], equals + 1, lengths[1]);
    return n + lengths[0] + lengths[1];
}

#endif
