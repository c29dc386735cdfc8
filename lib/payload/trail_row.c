#include "payload/trail_row.h"

#include "base/clock.h"
#include "payload/csv.h"
#include "payload/person_json.h"

static void write_object(struct json_writer *out, const struct deed_object *object) {
    if (!object->name && !object->email)
        return;
    json_write_object(out, "object");
    if (object->name)
        json_write_text(out, "name", object->name);
    if (object->email)
        json_write_text(out, "email", object->email);
    json_write_end(out);
}

static void write_lines(struct json_writer *out, const struct lines_change *lines) {
    json_write_object(out, "lineIds");
    json_write_words(out, "from", lines->from);
    json_write_words(out, "to", lines->to);
    json_write_end(out);
}

static void write_own(struct json_writer *out, const struct own_change *own) {
    json_write_object(out, "ownThreadsOnly");
    json_write_bool(out, "from", own->from);
    json_write_bool(out, "to", own->to);
    json_write_end(out);
}

void deed_json_write(struct json_writer *out, const struct store_deed *deed) {
    write_object(out, &deed->object);
    if (deed->to)
        actor_json_write(out, "to", deed->to);
    if (deed->lines)
        write_lines(out, deed->lines);
    if (deed->own)
        write_own(out, deed->own);
}

void trail_json_write(struct json_writer *out, const struct store_trail_row *row) {
    json_write_text(out, "id", row->id);
    json_write_time(out, "at", row->at);
    json_write_object(out, "actor");
    json_write_text(out, "id", row->actor);
    json_write_text(out, "name", row->actor_name);
    json_write_end(out);
    json_write_text(out, "action", row->action);
    json_write_text(out, "objectId", row->object_id);
    json_write_raw(out, "details", slice_of(row->details));
    json_write_text(out, "address", row->address);
    json_write_text(out, "requestId", row->request_id);
}

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
