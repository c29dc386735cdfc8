#include "base/id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void id_make(char id[ID_SIZE], const char *prefix, int64_t now_ms) {
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned char bytes[16];
    for (int i = 0; i < 6; i++)
        bytes[i] = (unsigned char)((uint64_t)now_ms >> (40 - 8 * i));
    if (getentropy(bytes + 6, 10) != 0) {
        perror("switchboard: no random bytes"); /* ids must never repeat: give up loudly */
        abort();
    }
    size_t n = strnlen(prefix, 5);
    memcpy(id, prefix, n);
    /* 128 bits as 26 groups of 5, the first holding the 3 highest bits */
    for (int i = 0; i < 26; i++) {
        unsigned value = 0;
        for (int bit = i * 5 - 2; bit < i * 5 + 3; bit++)
            value = value << 1 | (bit < 0 ? 0u : (unsigned)(bytes[bit / 8] >> (7 - bit % 8)) & 1u);
        id[n++] = digits[value];
    }
    id[n] = '\0';
}
