#include "state/cursor.h"

#include <pthread.h>
#include <sodium.h>

#include "base/crypto.h"

enum { CURSOR_SIZE = 8 + crypto_shorthash_BYTES, CURSOR_TEXT_SIZE = 64 };

/* The key is random, so only cursors of this run of the sandbox are valid. */
static unsigned char cursor_key[crypto_shorthash_KEYBYTES];

static void cursor_key_make(void) {
    crypto_random(cursor_key, sizeof cursor_key);
}

static void cursor_seal(unsigned char out[CURSOR_SIZE], int64_t serial) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, cursor_key_make);
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(serial >> (8 * i)) ^ cursor_key[i];
    crypto_shorthash(out + 8, out, 8, cursor_key);
}

const char *cursor_write(struct arena *arena, int64_t serial) {
    unsigned char cursor[CURSOR_SIZE];
    char *text = arena_alloc(arena, CURSOR_TEXT_SIZE);
    cursor_seal(cursor, serial);
    memcpy(text, "QVFI", 4);
    sodium_bin2base64(text + 4, CURSOR_TEXT_SIZE - 4, cursor, sizeof cursor,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return text;
}

bool cursor_read(const char *text, int64_t *serial) {
    unsigned char cursor[CURSOR_SIZE];
    unsigned char right[CURSOR_SIZE];
    size_t length;
    if (strncmp(text, "QVFI", 4) != 0 ||
        sodium_base642bin(cursor, sizeof cursor, text + 4, strlen(text + 4), NULL, &length, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        length != sizeof cursor)
        return false;
    cursor_seal(right, 0); /* the key alone, with the xor below */
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)(cursor[i] ^ right[i]) << (8 * i);
    *serial = (int64_t)number;
    cursor_seal(right, *serial);
    return memcmp(cursor, right, sizeof cursor) == 0;
}
