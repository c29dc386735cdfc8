#include "base/token_use.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mapped_file.h"

/* The words of a slot. The last one is unused. */
enum {
    CHECK = 0, /* the checksum of the others; 0: never written */
    TIME,
    ID,
    WORDS = ID + ID_SIZE / sizeof(uint64_t)
};

_Static_assert(ID_SIZE % sizeof(uint64_t) == 0, "an id is whole words");
_Static_assert(sizeof(struct token_use_slot) == 64, "a slot is a cache line");

static uint64_t checksum(const uint64_t words[WORDS]) {
    return mapped_file_hash(&words[TIME], WORDS - TIME);
}

static void encode(const struct token_use *use, uint64_t words[WORDS]) {
    memset(words, 0, WORDS * sizeof *words);
    words[TIME] = (uint64_t)use->time;
    memcpy(&words[ID], use->id, strnlen(use->id, ID_SIZE - 1));
    words[CHECK] = checksum(words);
}

/* --- writing --- */

static uint64_t load(struct token_use_slot *slot, size_t word) {
    return atomic_load_explicit(&slot->words[word], memory_order_relaxed);
}

static bool has_id(struct token_use_slot *slot, const uint64_t words[WORDS]) {
    for (size_t i = ID; i < WORDS; i++)
        if (load(slot, i) != words[i])
            return false;
    return true;
}

/* Finds the slot of the token, else the one to replace: an empty one or that of the oldest use. */
static struct token_use_slot *find(struct token_use_slot slots[TOKEN_USE_SLOTS],
                                   const uint64_t words[WORDS]) {
    const uint64_t first = mapped_file_hash(&words[ID], WORDS - ID);
    struct token_use_slot *oldest = NULL;
    for (uint64_t i = 0; i < TOKEN_USE_PLACES; i++) {
        struct token_use_slot *slot = &slots[(first + i) % TOKEN_USE_SLOTS];
        if (has_id(slot, words))
            return slot;
        if (!oldest || load(slot, TIME) < load(oldest, TIME))
            oldest = slot;
    }
    return oldest;
}

/* Two processes may write one slot: then the checksum may not match, until the next use. */
void token_use_note(struct token_use_slot slots[TOKEN_USE_SLOTS], const struct token_use *use) {
    uint64_t words[WORDS];
    encode(use, words);
    struct token_use_slot *slot = find(slots, words);
    if (has_id(slot, words) && words[TIME] - load(slot, TIME) < TOKEN_USE_PRECISION)
        return;
    for (size_t i = 0; i < WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_relaxed);
}

/* --- reading --- */

/* Whether it is the id of a scoped token: `tok_`, letters and digits, and NULs to its end. */
static bool is_id(const char id[ID_SIZE]) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const size_t n = strnlen(id, ID_SIZE);
    return n < ID_SIZE && strncmp(id, "tok_", 4) == 0 && strspn(id, allowed) == n;
}

bool token_use_read(struct token_use_slot *slot, struct token_use *use) {
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = load(slot, i);
    if (!words[CHECK] || words[CHECK] != checksum(words))
        return false;
    use->time = (int64_t)words[TIME];
    memcpy(use->id, &words[ID], sizeof use->id);
    return use->time > 0 && is_id(use->id);
}
