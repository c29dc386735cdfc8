/* A file without a name, for bytes that must wait: gone when its descriptor is closed, whatever
 * happens to the process. */
#ifndef SWITCHBOARD_SPOOL_H
#define SWITCHBOARD_SPOOL_H

/* An empty file in the directory `dir`, for reading and writing by this process alone. Returns its
 * descriptor, or -1 with errno set. */
int spool_open(const char *dir);

#endif
