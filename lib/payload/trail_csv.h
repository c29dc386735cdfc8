/* The trail as comma-separated values (csv.h). */
#ifndef SWITCHBOARD_TRAIL_CSV_H
#define SWITCHBOARD_TRAIL_CSV_H

#include "payload/csv.h"
#include "store/deed.h"

/* Adds the line with the names of the columns. */
void trail_csv_head(struct buffer *lines);

/* Adds the line of a row. */
void trail_csv_add(struct buffer *lines, const struct store_trail_row *row);

#endif
