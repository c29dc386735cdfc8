/* Comma-separated values (RFC 4180) in UTF-8, which a spreadsheet may open. */
#ifndef SWITCHBOARD_CSV_H
#define SWITCHBOARD_CSV_H

#include "base/buffer.h"

/* Adds a cell and, unless it is the first one of the line, a comma before it. A text that a
 * spreadsheet would take for a formula (it begins with = + - @, a tab, a carriage return or a line
 * feed) gets an apostrophe in front; U+FFFD replaces NUL bytes. p == NULL is an empty cell. */
void csv_add(struct buffer *line, struct slice text);

/* Ends the line. */
void csv_end(struct buffer *line);

#endif
