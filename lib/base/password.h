/* Passwords of users: their form, and their hashes by argon2id (RFC 9106). */
#ifndef SWITCHBOARD_PASSWORD_H
#define SWITCHBOARD_PASSWORD_H

#include "base/arena.h"

enum {
    PASSWORD_SHORTEST = 12, /* characters */
    PASSWORD_LONGEST = 128, /* bytes */
    PASSWORD_HASH_SIZE = 128,
};

/* Returns what is wrong with a new password, to follow "must be ", or NULL. `text` is valid UTF-8.
 * There are no rules about kinds of characters: length is what counts. */
const char *password_problem(struct slice text);

/* Writes the hash of the password, with its parameters and a new salt, as text. Takes about 0.1 s
 * of processor time and 19 MiB of memory. Returns false when the memory is not available. */
bool password_hash(struct slice password, char hash[PASSWORD_HASH_SIZE]);

/* Whether the hash is that of the password. Takes the same time and memory as password_hash. `hash`
 * NULL: there is none; takes the same time, and returns false. */
bool password_matches(struct slice password, const char *hash);

/* Whether the hash has other parameters than password_hash uses now. */
bool password_is_outdated(const char *hash);

#endif
