/* The rows of an export (store/export.h) in JSON. */
#ifndef SWITCHBOARD_EXPORT_ROW_H
#define SWITCHBOARD_EXPORT_ROW_H

#include "base/json.h"
#include "store/export.h"

/* The value of a row in the column with this name; NULL: there is no such column. */
const struct export_value *export_value_of(const struct export_rows *rows, size_t row,
                                           const char *name);

/* Writes the members of a row, with its parts, into the open object. `arena` is for the call alone.
 */
void export_row_write(struct json_writer *w, struct arena *arena, const struct export_rows *rows,
                      size_t row);

#endif
