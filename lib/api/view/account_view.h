/* The accounts and lines of a user as the user reads them (spec 2.2). */
#ifndef SWITCHBOARD_ACCOUNT_VIEW_H
#define SWITCHBOARD_ACCOUNT_VIEW_H

#include "store/line.h"
#include "web/request.h"

/* Writes the member `accounts`, an array. */
void account_view_write(struct json_writer *out, const struct store_account *accounts,
                        size_t count);

/* Writes the members that GET /v2/me has of a line. */
void line_view_members(struct json_writer *out, const struct line *line);

/* Writes the line as an object. `name`: as for json_write_object. */
void line_view_write(struct json_writer *out, const char *name, const struct line *line);

#endif
