/* Templates of JSON with {{column}} in their strings, which the cells of a line fill in. */
#ifndef SWITCHBOARD_COLUMNS_H
#define SWITCHBOARD_COLUMNS_H

#include "base/buffer.h"
#include "base/json.h"

/* The columns of a table. */
struct columns {
    const struct slice *names;
    size_t count;
};

/* Finds the next {{column}} of the JSON text: cuts what is before it off `*rest` into `*before`,
 * and the name into `*name`, whose p is NULL when there is none. */
void columns_next(struct slice *rest, struct slice *before, struct slice *name);

/* The members of an object as the columns and cells of a line: texts as they are, numbers as they
 * are written. Returns the name of the first that is neither; p == NULL: there is none. */
struct slice columns_of_object(struct arena *arena, struct json object, struct columns *columns,
                               const struct slice **cells);

/* The number of the column; `count`: there is none of this name. */
size_t columns_find(const struct columns *columns, struct slice name);

/* Adds the JSON text with the cells in place of the columns' names. Returns the first column whose
 * cell is empty or missing; p == NULL: there is none. */
struct slice columns_fill(const struct columns *columns, const struct slice *cells, size_t count,
                          struct slice json, struct buffer *out);

#endif
