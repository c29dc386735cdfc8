/* Memory with one owner: everything allocated from an arena lives until the arena is reset.
 *
 * A request has one arena. Its cap is set at birth, so no input can make a process grow without
 * bound. Allocation never returns NULL: when the cap is reached or the system has no more memory,
 * the arena's `exhausted` function is called, which must not return (the gateway answers 500 and
 * ends the process there). Code that uses an arena therefore has no failure path for memory.
 */
#ifndef SWITCHBOARD_ARENA_H
#define SWITCHBOARD_ARENA_H

#include "base/slice.h"

struct arena_block;

struct arena {
    struct arena_block *block; /* the newest block */
    struct arena_block *given; /* not ours to free; NULL: none */
    size_t total;              /* bytes taken from the system */
    size_t cap;                /* most bytes it may take */
    void (*exhausted)(void);   /* called instead of returning NULL; must not return */
};

/* Makes an empty arena of at most `cap` bytes. `exhausted` NULL means: message on stderr, abort. */
void arena_init(struct arena *arena, size_t cap, void (*exhausted)(void));

/* An arena in the caller's memory, aligned for any type: it never asks the system, and ends the
 * process with a message on stderr when the `size` bytes, of which it needs a few itself, do not
 * do. */
void arena_init_in(struct arena *arena, void *memory, size_t size);

/* Takes what the next `size` bytes of allocations need from the system now, so that they cannot
 * fail. What is allocated in many small pieces, or grows, needs more than its length. */
void arena_reserve(struct arena *arena, size_t size);

/* `size` bytes, zeroed, aligned for any type. Owned by the arena. */
void *arena_alloc(struct arena *arena, size_t size);

/* Makes the allocation `p` of `old_size` bytes `new_size` bytes long and returns its (maybe new)
 * place. In place when `p` was the newest allocation, so a growing buffer wastes little. */
void *arena_grow(struct arena *arena, void *p, size_t old_size, size_t new_size);

/* A NUL-terminated copy of the bytes. */
char *arena_copy(struct arena *arena, struct slice bytes);

/* A NUL-terminated string made as by printf. */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Forgets everything allocated; keeps one block for the next use. In sanitizer builds the
 * forgotten bytes are poisoned, so that a pointer kept over a reset is caught. */
void arena_reset(struct arena *arena);

/* Gives everything back to the system. */
void arena_free(struct arena *arena);

#endif
