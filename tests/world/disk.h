/* What a disk has not written yet. A write is on the disk when the file was synced after it; a
 * power failure may lose any of the others, and may tear one. Files: the database and its
 * write-ahead log. */
#ifndef WORLD_DISK_H
#define WORLD_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes the memory that all processes share. `path` is the database's; it is not copied. */
void disk_prepare(const char *path);

/* The file of the database exists now. */
void disk_watch(void);

/* Called before the call that they are named for. Other files are ignored. */
void disk_write(int file, const void *bytes, size_t n, int64_t at);
void disk_truncate(int file, int64_t size);
void disk_sync(int file);

/* Makes a power failure lose what was synced too. */
void disk_lies(bool lies);

/* Does to the files what a power failure does. No process may run. Returns the number of writes
 * that are lost. */
size_t disk_fail_power(uint64_t *random);

#endif
