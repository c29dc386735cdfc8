/* The keys that encrypt at rest, and the file that holds them: lines `ID HEX`, ID 1 to 255, HEX 64
 * digits, `#` begins a comment. The last key seals; every one opens, so a key can be replaced
 * without losing what it sealed. */
#ifndef SWITCHBOARD_KEYRING_H
#define SWITCHBOARD_KEYRING_H

#include <stdint.h>

#include "base/arena.h"

enum { CRYPTO_KEY_SIZE = 32, KEYRING_MAX = 16 };

struct keyring {
    struct keyring_key {
        uint8_t id;
        unsigned char key[CRYPTO_KEY_SIZE];
    } keys[KEYRING_MAX]; /* as in the file, each id once */
    size_t count;
};

/* Reads the key file. Returns 0, or -1 with `*error` (in `arena`) naming file and line. */
int keyring_read(const char *path, struct arena *arena, struct keyring *ring, const char **error);

/* Writes a new key file with one random key, mode 0640; never overwrites. Returns 0, or -1 with
 * errno set. */
int keyring_create(const char *path);

/* The key that seals. The ring must not be empty. */
const struct keyring_key *keyring_newest(const struct keyring *ring);

/* Adds a random key, which seals from now on, with the next free id: after 255 comes 1. False when
 * the ring is full. */
bool keyring_add(struct keyring *ring);

/* Drops all keys but the one that seals. */
void keyring_keep_newest(struct keyring *ring);

/* Adds those keys of `older` whose ids are not in the ring, as long as there is room; they seal
 * nothing. */
void keyring_retain(struct keyring *ring, const struct keyring *older);

/* Puts the ring in the place of the key file, which keeps its owner, group and mode: at any moment
 * the file is whole, the one or the other, and when the call returns the new one is on disk.
 * Callers must exclude each other. Returns 0, or -1 with errno set and the file as it was. */
int keyring_replace(const char *path, const struct keyring *ring);

#endif
