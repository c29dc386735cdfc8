/* Internal to the store: marks of what was erased, so that its repetitions do not bring it back. A
 * mark is the SHA-256 of an account's id, a line feed and a name: the id of a message, which has 64
 * random bits, or the key of another update. That of a POST is the hash that the POST itself has.
 */
#ifndef SWITCHBOARD_STORE_ERASED_MARK_H
#define SWITCHBOARD_STORE_ERASED_MARK_H

#include "base/crypto.h"
#include "engine/sql.h"

/* The platform repeats a webhook for 7 days; a message may be read weeks after it was sent, and the
 * history of the business app reaches back 180 days. */
#define MARK_OF_UPDATE_MS  (8 * 24 * 60 * 60 * INT64_C(1000))
#define MARK_OF_MESSAGE_MS (200 * 24 * 60 * 60 * INT64_C(1000))

struct erased_mark {
    unsigned char hash[CRYPTO_HASH_SIZE];
};

struct erased_mark erased_mark_of(struct arena *arena, const char *account_id, const char *name);

/* The mark as a parameter of a statement; it must live as long as that runs. */
static inline struct slice erased_mark_slice(const struct erased_mark *mark) {
    return (struct slice){(const char *)mark->hash, sizeof mark->hash};
}

/* Adds a mark in the open transaction; false on failure. */
bool erased_mark_add(struct store *store, const char *user_id, struct slice hash,
                     int64_t forget_at);

/* Whether there is the mark. False also on failure. */
bool erased_mark_is_set(struct store *store, const struct erased_mark *mark);

#endif
