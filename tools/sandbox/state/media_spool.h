/* The directory of uploaded files. */
#ifndef SANDBOX_MEDIA_SPOOL_H
#define SANDBOX_MEDIA_SPOOL_H

#include "base/arena.h"

/* Sets the directory, which is not deleted at the end. The path is not copied. Without this call
 * it is a temporary directory, made when it is first needed. */
void spool_directory(const char *path);

/* Creates a file in the directory and opens it for writing; sets `*path` to its path in `arena`.
 * Returns the descriptor, or -1 after a message on stderr; then `*path` is NULL. */
int spool_create(struct arena *arena, const char **path);

/* Deletes the temporary directory, which must be empty. */
void spool_remove(void);

#endif
