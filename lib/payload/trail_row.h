/* The trail of a workspace: what a row says of a change, and rows as JSON and as comma-separated
 * values (csv.h). */
#ifndef SWITCHBOARD_TRAIL_ROW_H
#define SWITCHBOARD_TRAIL_ROW_H

#include "base/json.h"
#include "store/deed.h"

/* Writes the members of `details` that the change itself has: what the object is called, to whom
 * it gives something, and for each limit of what is seen the values before and after it. */
void deed_json_write(struct json_writer *out, const struct store_deed *deed);

/* Writes the members of a row into the open object. */
void trail_json_write(struct json_writer *out, const struct store_trail_row *row);

/* Adds the line with the names of the columns. */
void trail_csv_head(struct buffer *lines);

/* Adds the line of a row. */
void trail_csv_add(struct buffer *lines, const struct store_trail_row *row);

#endif
