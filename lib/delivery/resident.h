/* What the resident programs, the courier and the sender, have in common. */
#ifndef SWITCHBOARD_DELIVERY_RESIDENT_H
#define SWITCHBOARD_DELIVERY_RESIDENT_H

#include "base/config.h"

/* The file with the id of the process; path NULL: none. */
struct pid_file {
    const char *path;
    int fd;
};

/* Creates the file, empty, before the process is confined. The id is written when signals are
 * blocked, so that a program which reads it can send them. Both return 0, or -1 with errno. */
int pid_file_create(struct pid_file *file);
int pid_file_write(struct pid_file *file);
void pid_file_remove(const struct pid_file *file);

/* Reads the value of --for: seconds, from 1 to 86400, with or without an `s`. Returns milliseconds;
 * 0 on error. */
int64_t resident_read_duration(const char *text);

/* Opens the log and the counters, and counts the start of the program. */
void resident_open_log(const struct config *config, const char *name);

#endif
