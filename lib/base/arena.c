#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGNMENT = 16, FIRST_BLOCK = 16 * 1024 };

struct arena_block {
    struct arena_block *older;
    size_t size; /* of `bytes` */
    size_t used;
    _Alignas(ALIGNMENT) char bytes[];
};

static size_t align(size_t n) {
    return (n + (ALIGNMENT - 1)) & ~(size_t)(ALIGNMENT - 1);
}

static void exhausted(struct arena *arena) {
    if (arena->exhausted)
        arena->exhausted();
    fputs("switchboard: out of memory\n", stderr);
    abort();
}

void arena_init(struct arena *arena, size_t cap, void (*exhausted_hook)(void)) {
    *arena = (struct arena){.cap = cap, .exhausted = exhausted_hook};
}

void arena_init_in(struct arena *arena, void *memory, size_t size) {
    struct arena_block *block = memory;
    *block = (struct arena_block){.size = size - sizeof *block};
    ASAN_POISON_MEMORY_REGION(block->bytes, block->size);
    *arena =
        (struct arena){.block = block, .external = block, .total = block->size, .cap = block->size};
}

static void add_block(struct arena *arena, size_t wanted) {
    size_t size = arena->block ? arena->block->size * 2 : FIRST_BLOCK;
    if (size < wanted)
        size = wanted;
    if (size > arena->cap - arena->total)
        size = wanted;
    struct arena_block *block = NULL;
    if (wanted <= SIZE_MAX - sizeof *block && size <= arena->cap - arena->total)
        block = malloc(sizeof *block + size);
    if (!block) {
        exhausted(arena);
        abort(); /* the hook must not return */
    }
    *block = (struct arena_block){.older = arena->block, .size = size};
    ASAN_POISON_MEMORY_REGION(block->bytes, size);
    arena->block = block;
    arena->total += size;
}

/* Returns `size` bytes, not zeroed, of the newest block. */
static void *take(struct arena *arena, size_t size) {
    if (size > arena->cap)
        exhausted(arena);
    size_t whole = align(size ? size : 1);
    if (!arena->block || arena->block->size - arena->block->used < whole)
        add_block(arena, whole);
    struct arena_block *block = arena->block;
    char *p = block->bytes + block->used;
    block->used += whole;
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    return p;
}

void *arena_alloc(struct arena *arena, size_t size) {
    return memset(take(arena, size), 0, size);
}

void *arena_grow(struct arena *arena, void *p, size_t old_size, size_t new_size) {
    struct arena_block *block = arena->block;
    size_t old_whole = align(old_size ? old_size : 1);
    if (p && block && (char *)p + old_whole == block->bytes + block->used &&
        new_size <= arena->cap) {
        size_t start = (size_t)((char *)p - block->bytes);
        if (align(new_size) <= block->size - start) {
            block->used = start + align(new_size ? new_size : 1);
            ASAN_UNPOISON_MEMORY_REGION(p, new_size);
            return p;
        }
    }
    void *grown = take(arena, new_size);
    if (old_size)
        memcpy(grown, p, old_size < new_size ? old_size : new_size);
    return grown;
}

void arena_reserve(struct arena *arena, size_t size) {
    size_t whole = align(size);
    if (!arena->block || arena->block->size - arena->block->used < whole)
        add_block(arena, whole);
}

char *arena_copy(struct arena *arena, struct slice bytes) {
    char *copy = take(arena, bytes.n + 1);
    if (bytes.n)
        memcpy(copy, bytes.p, bytes.n);
    copy[bytes.n] = '\0';
    return copy;
}

/* A short text is formatted once, and copied. */
char *arena_printf(struct arena *arena, const char *format, ...) {
    char small[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    size_t size = n < 0 ? 1 : (size_t)n + 1;
    char *text = take(arena, size);
    if (n < 0)
        text[0] = '\0';
    else if (size <= sizeof small)
        memcpy(text, small, size);
    else
        vsnprintf(text, size, format, again);
    va_end(again);
    return text;
}

static void free_block(const struct arena *arena, struct arena_block *block) {
    ASAN_UNPOISON_MEMORY_REGION(block->bytes, block->size);
    if (block != arena->external)
        free(block);
}

void arena_reset(struct arena *arena) {
    struct arena_block *first = arena->block;
    if (!first)
        return;
    while (first->older) { /* keeps the oldest block, the smallest: frees what a big request took */
        struct arena_block *older = first->older;
        free_block(arena, first);
        first = older;
    }
    first->used = 0;
    ASAN_POISON_MEMORY_REGION(first->bytes, first->size);
    arena->block = first;
    arena->total = first->size;
}

void arena_free(struct arena *arena) {
    while (arena->block) {
        struct arena_block *older = arena->block->older;
        free_block(arena, arena->block);
        arena->block = older;
    }
    arena->total = 0;
}
