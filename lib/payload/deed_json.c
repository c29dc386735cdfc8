#include "payload/deed_json.h"

#include "payload/actor_json.h"
#include "payload/lines_json.h"

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
    lines_json_write(out, "from", lines->from);
    lines_json_write(out, "to", lines->to);
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
