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

/* --- reading, in parts of any length --- */

enum { CSV_CELLS_MOST = 100, CSV_LINE_MOST = 64 * 1024 };

struct csv_reader {
    /* Called with the cells of each line that is not empty, which live until it returns. False ends
     * the reading. */
    bool (*take)(void *context, const struct slice *cells, size_t count);
    void *context;
    struct arena arena; /* of the line that is being read */
    struct buffer text;
    size_t ends[CSV_CELLS_MOST]; /* of the cells, in `text` */
    size_t count, line;          /* line: the number of the present one, from 1 */
    size_t next_line;
    int state;
    bool was_return;   /* the last character was a CR that ended a line */
    const char *error; /* why it cannot be read; NULL: it can */
};

/* Begins. `take` and `context` are set already; all else must be zeros. */
void csv_reader_start(struct csv_reader *reader);

/* Reads the next bytes. False: there is an error, or `take` has ended the reading. */
bool csv_reader_add(struct csv_reader *reader, struct slice bytes);

/* The file ends. The same. */
bool csv_reader_end(struct csv_reader *reader);

void csv_reader_free(struct csv_reader *reader);

#endif
