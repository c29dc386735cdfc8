#include "payload/trail_csv.h"

#include "base/clock.h"

static void add_line(struct buffer *lines, const char *const *cells, size_t count) {
    for (size_t i = 0; i < count; i++)
        csv_add(lines, slice_of(cells[i]));
    csv_end(lines);
}

void trail_csv_head(struct buffer *lines) {
    static const char *const names[] = {"at",       "actor",   "actorName", "action",
                                        "objectId", "details", "address",   "requestId"};
    add_line(lines, names, sizeof names / sizeof *names);
}

void trail_csv_add(struct buffer *lines, const struct store_trail_row *row) {
    char at[CLOCK_ISO8601_SIZE];
    clock_format(row->at, at);
    const char *const cells[] = {at,           row->actor,     row->actor_name,
                                 row->action,  row->object_id, row->details,
                                 row->address, row->request_id};
    add_line(lines, cells, sizeof cells / sizeof *cells);
}
