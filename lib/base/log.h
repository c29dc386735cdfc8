/* The log: one JSON object a line, each line one write(2) on an O_APPEND descriptor, so lines of
 * many processes never mix. No secret, no header and no body ever goes in: callers name fields.
 */
#ifndef SWITCHBOARD_LOG_H
#define SWITCHBOARD_LOG_H

#include "base/json.h"

enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };

/* Where lines go from now on: the file `path`, created with mode 0660 when missing; standard error
 * (under Apache: its error log) when `path` is NULL or empty, or when the file cannot be opened,
 * which is said there once. The file is opened at the first line, and stays open while lines go to
 * standard error: a confined process could not open it again. */
void log_to(const char *path);

/* The file, which may have been moved away, is opened anew for the next line. */
void log_reopen(void);

/* Opens it now, for a process that will not be able to later. */
void log_open(void);

/* Where the next line goes, opening nothing: for a process that is about to crash. */
int log_descriptor(void);

/* Starts a line: an open object that holds `ts` and `level`. The caller adds members. */
void log_start(struct json_writer *line, struct arena *arena, enum log_level level);

/* Closes the object of `log_start` and writes the line. */
void log_finish(struct json_writer *line);

/* A whole line {ts, level, message} for what belongs to no request. At most 1 KB of message. */
void log_message(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
