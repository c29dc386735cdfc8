/* Memory with one owner: each allocation from an arena lives until the arena is reset or freed.
 *
 * Each request has one arena. arena_init sets its cap, so no input can make a process grow without
 * bound. Allocation never returns NULL: when the cap is reached or malloc(3) fails, it calls the
 * arena's `exhausted` function, which must not return (the gateway answers 500 there and ends the
 * process). Code that uses an arena therefore has no failure path for memory.
 */
#ifndef SWITCHBOARD_ARENA_H
#define SWITCHBOARD_ARENA_H

#include "base/slice.h"

struct arena_block;

struct arena {
    struct arena_block *block;    /* the newest block */
    struct arena_block *external; /* in the caller's memory, not freed here; NULL: none */
    size_t total;                 /* bytes allocated from the system */
    size_t cap;                   /* upper bound of `total` */
    void (*exhausted)(void);      /* called instead of returning NULL; must not return */
};

/* Makes an empty arena of at most `cap` bytes. With `exhausted` NULL, exhaustion prints a message
 * on stderr and calls abort(3). */
void arena_init(struct arena *arena, size_t cap, void (*exhausted)(void));

/* Makes an arena in `size` bytes of the caller's memory, which must be aligned for any type. A few
 * of the bytes hold the block's header. The arena never calls malloc(3); when the bytes do not
 * suffice, it prints a message on stderr and calls abort(3). */
void arena_init_in(struct arena *arena, void *memory, size_t size);

/* Allocates memory from the system now, so that the next `size` bytes of allocations cannot fail.
 * Each allocation is rounded up to the alignment, and one that grows may be copied: both need more
 * bytes than their length. */
void arena_reserve(struct arena *arena, size_t size);

/* Returns `size` bytes, zeroed, aligned for any type. Owned by the arena. */
void *arena_alloc(struct arena *arena, size_t size);

/* Resizes the allocation `p` from `old_size` to `new_size` bytes and returns its address, which may
 * be new. The newest allocation is resized in place if its block has room, so a growing buffer
 * wastes little. */
void *arena_grow(struct arena *arena, void *p, size_t old_size, size_t new_size);

/* Returns a NUL-terminated copy of the bytes. */
char *arena_copy(struct arena *arena, struct slice bytes);

/* Returns a NUL-terminated string, formatted as by printf(3). */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the lifetime of all allocations; keeps one block for reuse. Sanitizer builds poison the
 * bytes, so that the use of an old pointer is reported. */
void arena_reset(struct arena *arena);

/* Frees all blocks. */
void arena_free(struct arena *arena);

#endif
