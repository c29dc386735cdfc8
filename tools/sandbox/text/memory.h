/* Memory of the sandbox. A request, an object of the state and a call that sends webhooks each own
 * an arena, which is freed as a whole. Only what ends one by one and is too small for an arena
 * (records, log lines, queue entries) is a block of malloc(3). Both end the program when memory
 * runs out: the sandbox is a test tool and does not recover from that. */
#ifndef SANDBOX_MEMORY_H
#define SANDBOX_MEMORY_H

#include "base/arena.h"

/* Opens an arena without a cap. The struct itself lies in it. The caller ends it with
 * memory_close. */
struct arena *memory_open(void);

/* Frees the arena and all its allocations; NULL is allowed. */
void memory_close(struct arena *arena);

/* Returns a zeroed block of `size` bytes, which the caller ends with free(3). */
void *memory_block(size_t size);

/* Resizes the block `p` (or NULL) to `size` bytes and returns its address; new bytes are not
 * zeroed. */
void *memory_resize(void *p, size_t size);

#endif
