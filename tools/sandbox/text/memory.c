#include "text/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *memory_check(void *memory) {
    if (!memory) {
        fputs("switchboard-sandbox: out of memory\n", stderr);
        abort();
    }
    return memory;
}

static void exhausted(void) {
    memory_check(NULL);
}

struct arena *memory_open(void) {
    struct arena made;
    arena_init(&made, SIZE_MAX, exhausted);
    struct arena *arena = arena_alloc(&made, sizeof *arena);
    *arena = made;
    return arena;
}

void memory_close(struct arena *arena) {
    if (!arena)
        return;
    struct arena last = *arena; /* its own memory is among the freed */
    arena_free(&last);
}

void *memory_block(size_t size) {
    return memory_check(calloc(1, size));
}

void *memory_resize(void *p, size_t size) {
    return memory_check(realloc(p, size));
}
