/* Temporary files without a name: the kernel removes them when the descriptor is closed, also when
 * the process is killed. */
#ifndef SWITCHBOARD_SPOOL_H
#define SWITCHBOARD_SPOOL_H

/* Creates an empty file in the directory `dir`, for reading and writing by this process only.
 * Returns its descriptor, which the caller must close, or -1 with errno set. */
int spool_open(const char *dir);

#endif
