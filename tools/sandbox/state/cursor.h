/* The cursors of pages: signed texts that hold an item's serial number. */
#ifndef SANDBOX_CURSOR_H
#define SANDBOX_CURSOR_H

#include <stdint.h>

#include "base/arena.h"

/* Returns the cursor of an item, in `arena`. */
const char *cursor_write(struct arena *arena, int64_t serial);

/* Reads a cursor. Returns false when this run of the sandbox did not make it. */
bool cursor_read(const char *text, int64_t *serial);

#endif
