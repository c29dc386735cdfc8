/* A line as its owner reads it, in lists of lines and in the overview (spec 2.2). */
#ifndef SWITCHBOARD_LINE_VIEW_H
#define SWITCHBOARD_LINE_VIEW_H

#include "store/line.h"
#include "web/request.h"

/* Writes the line as an object. `name`: as for json_write_object. */
void line_view_write(struct json_writer *out, const char *name, const struct line *line);

#endif
