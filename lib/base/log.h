/* The log: one JSON object per line. Each line is one write(2) on an O_APPEND descriptor, so lines
 * of several processes do not interleave. The caller names each member; secrets, headers and bodies
 * are never logged.
 */
#ifndef SWITCHBOARD_LOG_H
#define SWITCHBOARD_LOG_H

#include "base/json.h"

enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };

/* Sets where the next lines go: to the file `path`, created with mode 0660 when missing, or
 * standard error (under Apache: its error log) when `path` is NULL or empty. The file is opened at
 * the first line; when that fails, lines go to standard error, after one message there about the
 * failure. The file stays open while lines go to standard error, because a confined process cannot
 * open it again. */
void log_to(const char *path);

/* Adds `host` with this name to each of the next lines; "": does not. */
void log_host(const char *name);

/* Closes the file, which may have been renamed; the next line opens it again. */
void log_reopen(void);

/* Opens the file now, for a process that cannot open it later. */
void log_open(void);

/* Returns the descriptor for the next line without opening a file: for a process that crashes.
 * Async-signal-safe. */
int log_descriptor(void);

/* Starts a line: an object with `ts`, `level` and perhaps `host`, which stays open for the caller's
 * members. */
void log_start(struct json_writer *line, struct arena *arena, enum log_level level);

/* Closes the object of `log_start` and writes the line. */
void log_finish(struct json_writer *line);

/* Writes a line {ts, level, message} that belongs to no request. The message is cut at 1 KB. */
void log_message(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
