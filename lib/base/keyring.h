/* The keys that encrypt values at rest, and the key file: lines `ID HEX`, ID from 1 to 255, HEX 64
 * digits; `#` begins a comment. The last key, the newest, encrypts; every key decrypts, so a key
 * can be replaced without losing the values that it encrypted. */
#ifndef SWITCHBOARD_KEYRING_H
#define SWITCHBOARD_KEYRING_H

#include <stdint.h>

#include "base/arena.h"

enum {
    CRYPTO_KEY_SIZE = 32,
    KEYRING_MAX = 16,
    KEYRING_NAME_SIZE = 13, /* "255-3f9a02bc" and its NUL */
    KEYRING_NAMES_SIZE = KEYRING_MAX * KEYRING_NAME_SIZE,
};

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

/* Writes the key's name: its id, and 32 bits of a hash of the key, by which two keys with the same
 * id differ. The name does not disclose the key. */
void keyring_name(const struct keyring_key *key, char name[KEYRING_NAME_SIZE]);

/* Writes the names of all keys in the order of the ring, with spaces between them. */
void keyring_names(const struct keyring *ring, char names[KEYRING_NAMES_SIZE]);

/* Adds a random key as the newest, with the next free id: 255 is followed by 1. Returns false when
 * the ring is full. */
bool keyring_add(struct keyring *ring);

/* The same, but the new key is the first of the ring, which does not encrypt; NULL: the ring is
 * full.
 */
const struct keyring_key *keyring_add_first(struct keyring *ring);

/* Returns the key with this id; NULL: none. */
const struct keyring_key *keyring_find(const struct keyring *ring, unsigned id);

/* Makes the key with this id the newest; false: there is none. */
bool keyring_use(struct keyring *ring, unsigned id);

/* Removes the key with this id; false: there is none. */
bool keyring_drop(struct keyring *ring, unsigned id);

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
