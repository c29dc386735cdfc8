/* The last uses of scoped tokens, in the file of the last requests (request_log.h): a table of a
 * fixed size, without a lock. It has ids, never tokens. A full table forgets the
 * use that is the oldest among the places of the new one. What is read from it is not trusted: a
 * use that is not whole, or whose id is not one, is left out.
 */
#ifndef SWITCHBOARD_TOKEN_USE_H
#define SWITCHBOARD_TOKEN_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

enum {
    TOKEN_USE_SLOTS = 4096,
    TOKEN_USE_PLACES = 16,           /* slots that may hold the use of one token */
    TOKEN_USE_PRECISION = 60 * 1000, /* ms: a later use within it is not noted */
};

struct token_use {
    int64_t time; /* ms */
    char id[ID_SIZE];
};

/* A slot, of one cache line. */
struct token_use_slot {
    _Atomic uint64_t words[8];
};

/* Notes a use of the token. */
void token_use_note(struct token_use_slot slots[TOKEN_USE_SLOTS], const struct token_use *use);

/* Reads the use in a slot; false when there is none. */
bool token_use_read(struct token_use_slot *slot, struct token_use *use);

#endif
