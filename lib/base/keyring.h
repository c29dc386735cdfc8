/* The keys that encrypt values at rest, and the key file: lines `ID HEX`, ID from 1 to 255, HEX 64
 * digits; `#` begins a comment. The last key, the newest, encrypts; every key decrypts, so a key
 * can be replaced without losing the values that it encrypted. */
#ifndef SWITCHBOARD_KEYRING_H
#define SWITCHBOARD_KEYRING_H

#include <stdint.h>

#include "base/arena.h"

enum { CRYPTO_KEY_SIZE = 32, KEYRING_MAX = 16 };

struct keyring {
    struct keyring_key {
        uint8_t id;
        unsigned char key[CRYPTO_KEY_SIZE];
    } keys[KEYRING_MAX]; /* in the order of the file, each id once */
    size_t count;
};

/* Reads the key file into `ring`. Returns 0, or -1 with `*error` (in `arena`) naming the file and
 * the line. */
int keyring_read(const char *path, struct arena *arena, struct keyring *ring, const char **error);

/* Creates a key file with one random key, mode 0640; never overwrites a file. Returns 0, or -1 with
 * errno set. */
int keyring_create(const char *path);

/* Returns the newest key, which encrypts; owned by the ring, which must not be empty. */
const struct keyring_key *keyring_newest(const struct keyring *ring);

/* Adds a random key as the newest, with the next free id: 255 is followed by 1. Returns false when
 * the ring is full. */
bool keyring_add(struct keyring *ring);

/* Removes all keys but the newest. */
void keyring_keep_newest(struct keyring *ring);

/* Adds the keys of `older` whose ids are not in the ring, until the ring is full. They only
 * decrypt: the newest key stays the same. */
void keyring_retain(struct keyring *ring, const struct keyring *older);

/* Replaces the key file by the keys of the ring, atomically; owner, group and mode stay the same.
 * When the call returns, the new file is on disk. Callers must hold a lock: the temporary file has
 * a fixed name. Returns 0, or -1 with errno set and the old file in place (if only the flush of the
 * directory failed, the new one). */
int keyring_replace(const char *path, const struct keyring *ring);

#endif
